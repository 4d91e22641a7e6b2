import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findKubectls } from './kubectls.ts'
import { type OwnedPlane, type Plane, writeKubeconfig } from './plane.ts'
import { freePorts } from './ports.ts'
import { Program } from './program.ts'
import { mintUsers } from './users.ts'

const MAIN = fileURLToPath(new URL('embedded-main.ts', import.meta.url))

/** What `embedded-main.ts` reads from its first argument, a file. */
export interface EmbeddedSettings {
  readonly dataDir: string
  readonly port: number
  readonly tokens: Readonly<Record<string, { readonly user: string; readonly groups: readonly string[] }>>
}

/** The embedded API in a process of its own, as the hub runs it on one machine; ready when it resolves. */
export async function startEmbeddedPlane(): Promise<OwnedPlane> {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-plane-'))
  const [port = 0] = await freePorts(1)
  const users = mintUsers()
  const tokens = Object.fromEntries(
    Object.values(users).map(({ token, user, groups }) => [token, { user, groups }]),
  )
  const settings: EmbeddedSettings = { dataDir: join(folder, 'data'), port, tokens }
  const file = join(folder, 'settings.json')
  writeFileSync(file, JSON.stringify(settings), { mode: 0o600 })
  const program = new Program('embedded API', [process.execPath, MAIN, file])
  const stop = async () => {
    await program.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return { ...(await describe(program, folder, users)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function describe(program: Program, folder: string, users: Plane['users']): Promise<Plane> {
  const [, line = ''] = await program.says(/^(\{"url".*\})$/m)
  const { url, caPem } = JSON.parse(line) as { url: string; caPem: string }
  const kubeconfigPath = writeKubeconfig({ folder, url, caPem, users }, 'admin')
  return { name: 'embedded', url, caPem, kubeconfigPath, users, kubectls: await findKubectls(), folder }
}
