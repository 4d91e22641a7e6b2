import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ImageStore, type Intercept, startTestRegistry, type TestRegistry } from '@upgrade-hub/oci/testing'
import { createCa } from '@upgrade-hub/pki'
import { openAttemptStore } from '@upgrade-hub/upgrader'
import { agentProgram, createNode, type NodeFixture, prepareFor } from '@upgrade-hub/upgrader/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { runEdgeadm } from './testing/run-edgeadm.ts'

const MIB = 1024 * 1024
const TIMEOUT_MS = 60_000
const BASIC = `Basic ${Buffer.from('me:s3cret').toString('base64')}`

let folder: string
let images: ImageStore
let registry: TestRegistry
let node: NodeFixture
/** The layer, and what becomes of the first request for it. */
let layer: { readonly digest: string; readonly data: Buffer }

/** A registry with a private CA and a password that sends half of a layer and then nothing, the first time it is asked. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upgrade-hub-pull-'))
  images = new ImageStore()
  await images.publish('v1.1.0', [
    { name: 'usr/local/bin/edgecore', content: agentProgram('v1.1.0') },
    { name: 'usr/share/large', content: randomBytes(6 * MIB) },
  ])
  const [digest, blob] = [...images.blobs].find(([, { type }]) => type.includes('layer')) ?? []
  layer = { digest: digest ?? '', data: blob?.data ?? Buffer.alloc(0) }
  const ca = await createCa({ commonName: 'site', validDays: 1 })
  const server = await ca.issueServer({ dnsNames: [], ipAddresses: ['127.0.0.1'], validDays: 1 })
  registry = await startTestRegistry(images, halfOnce(), { cert: server.certPem, key: server.keyPem })
  const [caFile, credentialsFile] = [join(folder, 'ca.pem'), join(folder, 'config.json')]
  await writeFile(caFile, ca.certPem)
  const auths = { [registry.host]: { auth: Buffer.from('me:s3cret').toString('base64') } }
  await writeFile(credentialsFile, JSON.stringify({ auths }))
  node = await createNode({ registrySettings: { caFile, credentialsFile, allow: [registry.host] } })
})

afterEach(async () => {
  await node.remove()
  await registry.stop()
  await rm(folder, { recursive: true })
})

function halfOnce(): Intercept {
  let times = 0
  return ({ url, headers }, response) => {
    if (headers.authorization !== BASIC) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="site"' }).end()
      return true
    }
    if (!url?.endsWith(layer.digest) || times++ > 0) return false
    response.writeHead(200, { 'content-length': layer.data.length }).write(layer.data.subarray(0, 4 * MIB))
    return true
  }
}

/** F01, F09, R27, R28, S44 */
it(
  'an updater that is killed in the middle of a download goes on with what it has',
  async () => {
    const prepare = prepareFor({ Image: `${registry.host}/team/edge` })
    const store = openAttemptStore(node.config)
    await store.accept(prepare)
    const args = ['attempt', 'run', '--config', node.configPath, '--id', prepare.HistoryID]
    const staging = join(node.config.paths.etc, 'upgrade', `${prepare.TaskUID}.${prepare.Attempt}`)
    const partial = join(staging, 'layers', layer.digest.replace('sha256:', ''))

    const kill = new AbortController()
    const first = runEdgeadm(args, undefined, kill.signal)
    await vi.waitFor(async () => expect((await stat(partial)).size).toBeGreaterThan(MIB), TIMEOUT_MS)
    kill.abort()
    expect((await first).signal).toBe('SIGKILL')
    const kept = (await stat(partial)).size

    const second = await runEdgeadm(args)
    expect(second.code).toBe(0)
    expect(registry.ranges).toEqual([`bytes=${kept}-`])
    expect((await store.attempt(prepare.HistoryID))?.answer?.Value).toBe('prepared')
    expect(await readFile(join(staging, 'edgecore'), 'utf8')).toBe(agentProgram('v1.1.0'))
    expect((await first).err + second.err).not.toMatch(/s3cret|bWU6czNjcmV0/)
  },
  TIMEOUT_MS,
)
