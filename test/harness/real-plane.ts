import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCa } from '@upgrade-hub/pki'
import { Agent, request } from 'undici'
import type { Binaries } from '../controlplane/binaries.ts'
import { findKubectls } from './kubectls.ts'
import { type OwnedPlane, type Plane, type PlaneUser, type UserName, writeKubeconfig } from './plane.ts'
import { freePorts } from './ports.ts'
import { Program } from './program.ts'
import { until } from './until.ts'
import { mintUsers } from './users.ts'

const READY_MS = 60_000

export interface RealPlaneOptions {
  readonly binaries: Binaries
  /** Writes every request and its response code, one JSON object a line, to `{folder}/audit.log`. */
  readonly audit?: boolean
}

/** etcd, kube-apiserver and the two controllers of kube-controller-manager that tests need; ready when it resolves. */
export async function startRealPlane({ binaries, audit = false }: RealPlaneOptions): Promise<OwnedPlane> {
  const folder = mkdtempSync(join(tmpdir(), 'real-plane-'))
  const programs: Program[] = []
  const stop = async () => {
    for (const program of programs.splice(0).reverse()) await program.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return { ...(await bootstrap({ folder, binaries, audit, programs })), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Bootstrap {
  readonly folder: string
  readonly binaries: Binaries
  readonly audit: boolean
  readonly programs: Program[]
}

async function bootstrap({ folder, binaries, audit, programs }: Bootstrap): Promise<Plane> {
  const [client = 0, peer = 0, secure = 0] = await freePorts(3)
  const users = mintUsers()
  const url = `https://127.0.0.1:${secure}`
  writeCredentials(folder, users)
  const clientCertificate = await writeClientCertificate(folder)
  programs.push(new Program('etcd', [binaries.etcd, ...etcdFlags(folder, client, peer)]))
  const flags = [...apiServerFlags(folder, client, secure), ...(audit ? auditFlags(folder) : [])]
  const apiServer = new Program('kube-apiserver', [binaries['kube-apiserver'], ...flags])
  programs.push(apiServer)
  await ready(url, users.admin.token, apiServer)
  const caPem = readFileSync(join(folder, 'certs', 'apiserver.crt'), 'utf8')
  const kubeconfigPath = writeKubeconfig({ folder, url, caPem, users }, 'admin')
  programs.push(
    new Program('kube-controller-manager', [
      binaries['kube-controller-manager'],
      ...controllerFlags(kubeconfigPath),
    ]),
  )
  const kubectls = await findKubectls()
  return { name: 'real', url, caPem, kubeconfigPath, users, clientCertificate, kubectls, folder }
}

function writeCredentials(folder: string, users: Readonly<Record<UserName, PlaneUser>>): void {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  writeFileSync(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  const rows = Object.values(users).map(
    ({ token, user, groups }) => `${token},${user},${user},"${groups.join(',')}"`,
  )
  writeFileSync(join(folder, 'tokens.csv'), `${rows.join('\n')}\n`, { mode: 0o600 })
}

/** Of the group that may do everything, as a cluster's first administrator has it. */
async function writeClientCertificate(folder: string): Promise<{ certFile: string; keyFile: string }> {
  const ca = await createCa({ commonName: 'test-clients', validDays: 1 })
  const { certPem, keyPem } = await ca.issueClient({
    commonName: 'admin',
    organization: 'system:masters',
    validDays: 1,
  })
  const certFile = join(folder, 'admin.crt')
  const keyFile = join(folder, 'admin.key')
  writeFileSync(join(folder, 'client-ca.crt'), ca.certPem)
  writeFileSync(certFile, certPem)
  writeFileSync(keyFile, keyPem, { mode: 0o600 })
  return { certFile, keyFile }
}

function etcdFlags(folder: string, client: number, peer: number): string[] {
  const clientUrl = `http://127.0.0.1:${client}`
  const peerUrl = `http://127.0.0.1:${peer}`
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]
}

function apiServerFlags(folder: string, etcd: number, port: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, 'certs')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, 'sa.pub')}`,
    `--service-account-signing-key-file=${join(folder, 'sa.key')}`,
    `--client-ca-file=${join(folder, 'client-ca.crt')}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
  ]
}

function auditFlags(folder: string): string[] {
  const policy = join(folder, 'audit-policy.yaml')
  writeFileSync(
    policy,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata }]\n',
  )
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${join(folder, 'audit.log')}`]
}

function controllerFlags(kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--controllers=garbage-collector-controller,namespace-controller',
    '--leader-elect=false',
    '--secure-port=0',
    '--use-service-account-credentials=false',
  ]
}

async function ready(url: string, token: string, apiServer: Program): Promise<void> {
  const agent = new Agent({ connect: { rejectUnauthorized: false } })
  try {
    await until(
      'kube-apiserver is ready',
      async () => {
        if (!apiServer.isRunning) return 'ended'
        const { statusCode, body } = await request(`${url}/readyz`, {
          dispatcher: agent,
          headers: { authorization: `Bearer ${token}` },
        })
        await body.dump()
        return statusCode === 200
      },
      READY_MS,
    )
  } finally {
    await agent.close()
  }
  if (!apiServer.isRunning) throw new Error(`kube-apiserver ended:\n${apiServer.output.slice(-3000)}`)
}
