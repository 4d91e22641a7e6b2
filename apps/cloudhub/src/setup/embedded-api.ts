import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HUB_NAMESPACE } from '@upgrade-hub/api'
import type { Clock, Logger } from '@upgrade-hub/core'
import { KubeError, LEASES } from '@upgrade-hub/kube'
import { type Ca, createCa, loadCa } from '@upgrade-hub/pki'
import type { HubConfig } from '../config.ts'
import { LEASE_NAME } from '../controllers/index.ts'
import type { KubeApi } from '../kube-api.ts'
import { installCrds } from './install-crds.ts'
import { ensureNamespace } from './namespaces.ts'

/** The API server in this process. */
export interface EmbeddedApi {
  readonly port: number
  /** The kubeconfig that was written for people and for the hub itself. */
  readonly kubeconfig: string
  stop(): Promise<void>
}

const HOST = '127.0.0.1'
const CA_DAYS = 3650
const SERVER_DAYS = 365
/** What the hub expects of any cluster. */
const NAMESPACES = ['default', 'kube-system', 'kube-node-lease', HUB_NAMESPACE]

/**
 * Starts the embedded API server on its data directory and writes `{dataDir}/kubeconfig` (0600). Its CA and the token of
 * its one user stay the same over restarts; from then on it is an API server like any other.
 */
export async function startEmbeddedApi(
  { dataDir, port }: HubConfig['embedded'],
  { clock, log }: { clock: Clock; log: Logger },
): Promise<EmbeddedApi> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const ca = await keptCa(dataDir)
  const server = await ca.issueServer({
    dnsNames: ['localhost'],
    ipAddresses: [HOST, '::1'],
    validDays: SERVER_DAYS,
  })
  const token = await kept(join(dataDir, 'admin.token'), () =>
    Promise.resolve(randomBytes(32).toString('hex')),
  )
  // Loaded only where it is wanted: it brings SQLite and CEL along.
  const { startEmbedded } = await import('@upgrade-hub/embedded')
  const api = await startEmbedded({
    dataDir,
    host: HOST,
    port,
    tls: { cert: server.certPem, key: server.keyPem, ca: ca.certPem },
    tokens: { [token]: { user: 'admin', groups: ['system:masters'] } },
    clock,
    log,
  })
  const kubeconfig = join(dataDir, 'kubeconfig')
  await writeFile(kubeconfig, api.kubeconfig(), { mode: 0o600 })
  log.info({ url: api.url, kubeconfig }, 'embedded API server ready')
  return { port: api.port, kubeconfig, stop: () => api.stop() }
}

/** How the hub that has the API server in its own process is named in the lease. */
export const EMBEDDED_HOLDER = 'embedded_'

/** What somebody else has done in a real cluster: namespaces and our kinds. */
export async function furnish(client: KubeApi, options: { clock: Clock; log: Logger }): Promise<void> {
  for (const name of NAMESPACES) await ensureNamespace(client, name)
  await installCrds(client, options)
  await endLastTerm(client)
}

/** A forerunner that was killed is gone with its API server: nothing of it can still arrive, so nobody waits for its lease. */
async function endLastTerm(client: KubeApi): Promise<void> {
  try {
    const lease = await client.get(LEASES, LEASE_NAME, { namespace: HUB_NAMESPACE })
    if (!lease.spec?.holderIdentity?.startsWith(EMBEDDED_HOLDER)) return
    const { holderIdentity: _, ...spec } = lease.spec
    await client.replace(LEASES, { ...lease, spec }, { namespace: HUB_NAMESPACE })
  } catch (error) {
    if (!(error instanceof KubeError && error.isNotFound)) throw error
  }
}

async function keptCa(dataDir: string): Promise<Ca> {
  const pem = await kept(join(dataDir, 'api-ca.pem'), async () => {
    const { certPem, keyPem } = await createCa({ commonName: 'upgrade-hub-embedded', validDays: CA_DAYS })
    return `${certPem}${keyPem}`
  })
  const [certPem = ''] = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----\n?/.exec(pem) ?? []
  return loadCa({ certPem, keyPem: pem.replace(certPem, '') })
}

/** The secret in the file, made at the first start. `wx` lets two starts at once agree on one. */
async function kept(path: string, make: () => Promise<string>): Promise<string> {
  const read = () => readFile(path, 'utf8').catch(() => undefined)
  const found = await read()
  if (found) return found
  const made = await make()
  try {
    await writeFile(path, made, { mode: 0o600, flag: 'wx' })
    return made
  } catch (error) {
    const other = await read()
    if (other) return other
    throw error
  }
}
