import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { run } from './program.ts'

export type PlaneName = 'embedded' | 'real'

/** Who may speak to a plane in tests: a name, the Kubernetes user behind it, and its token. */
export interface PlaneUser {
  readonly user: string
  readonly groups: readonly string[]
  readonly token: string
}

export type UserName = 'admin' | 'hub' | 'viewer' | 'operator' | 'approver' | 'nobody'

export interface Kubectl {
  readonly path: string
  /** `1.37`, `1.32` */
  readonly version: string
}

/** A running control plane as plain data: it travels from the test runner to every test file. */
export interface Plane {
  readonly name: PlaneName
  readonly url: string
  /** PEM of what signs the server's certificate. */
  readonly caPem: string
  /** Of `admin`. */
  readonly kubeconfigPath: string
  readonly users: Readonly<Record<UserName, PlaneUser>>
  /** Of an administrator, where the plane takes certificates. */
  readonly clientCertificate?: { readonly certFile: string; readonly keyFile: string }
  /** All that this machine has, newest first; empty only where there is none. */
  readonly kubectls: readonly Kubectl[]
  /** A folder for anything that may go with the plane. */
  readonly folder: string
}

/** A plane and the right to end it; stopping twice is harmless. */
export interface OwnedPlane extends Plane {
  readonly stop: () => Promise<void>
}

export interface KubectlOptions {
  readonly as?: UserName
  readonly input?: string
  /** Which kubectl; the newest where absent. */
  readonly kubectl?: Kubectl
  readonly timeoutMs?: number
}

/** Stock kubectl against a plane, as a user would run it; never throws for a refusal. */
export async function kubectl(
  plane: Plane,
  args: readonly string[],
  options: KubectlOptions = {},
): Promise<{ code: number | null; stdout: string; output: string }> {
  const program = options.kubectl ?? plane.kubectls[0]
  if (program === undefined) throw new Error('there is no kubectl on this machine')
  const kubeconfig = options.as ? writeKubeconfig(plane, options.as) : plane.kubeconfigPath
  return run(
    [program.path, '--kubeconfig', kubeconfig, `--cache-dir=${join(plane.folder, 'kubectl')}`, ...args],
    {
      ...(options.input === undefined ? {} : { input: options.input }),
      timeoutMs: options.timeoutMs ?? 60_000,
    },
  )
}

/** A kubeconfig file (0600) for one of the plane's users. */
export function writeKubeconfig(
  plane: Pick<Plane, 'folder' | 'url' | 'caPem' | 'users'>,
  name: UserName,
): string {
  const folder = mkdtempSync(join(plane.folder, `${name}-`))
  const file = join(folder, 'kubeconfig')
  writeFileSync(file, kubeconfigFor(plane, { token: plane.users[name].token }), { mode: 0o600 })
  return file
}

/** `user` is a kubeconfig's own: `{ token }`, `{ tokenFile }`, `{ exec }`, … */
export function kubeconfigFor(plane: Pick<Plane, 'url' | 'caPem'>, user: object): string {
  const named = { name: 'test' }
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        ...named,
        cluster: {
          server: plane.url,
          'certificate-authority-data': Buffer.from(plane.caPem).toString('base64'),
        },
      },
    ],
    users: [{ ...named, user }],
    contexts: [{ ...named, context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
}
