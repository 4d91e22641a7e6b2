import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseDockerConfig } from './docker-config.ts'
import { AGENT, digestOf, FILE, type Intercept, PullBench, type TestRegistry } from './testing/index.ts'

const TOKEN = 's3cret-token'

let bench: PullBench
let api: TestRegistry
/** What the first registry is told about who asks. */
let seen: (string | undefined)[]
let asked: { path: string; authorization: string | undefined }[]

beforeEach(async () => {
  bench = await PullBench.create()
  asked = []
  await bench.publish([[AGENT]])
  seen = []
  await bench.serve((request) => (seen.push(request.headers.authorization), false))
})

afterEach(() => bench.remove())

/** A second registry, which wants the token. */
async function serveApi(intercept: Intercept = () => false): Promise<void> {
  api = await bench.serve((request, response) => {
    const { authorization } = request.headers
    asked.push({ path: request.url ?? '', authorization })
    if (authorization !== `Bearer ${TOKEN}`) return (response.writeHead(401).end(), true)
    return intercept(request, response)
  })
}

const pull = (token = TOKEN) => bench.pull({ registryApi: { host: api.host, token } })

/** `imageDigestGatter.registryAPI` */
describe('a second registry that must say the same digest', () => {
  it('is asked once, for the tag, with its token, which nobody else sees', async () => {
    await serveApi()
    expect((await pull()).files[FILE]?.size).toBe(9)
    expect(asked).toEqual([{ path: '/v2/team/edge/manifests/v1.1.0', authorization: `Bearer ${TOKEN}` }])
    expect(new Set(seen)).toEqual(new Set([undefined]))
  })

  it.each<[string, string, Intercept]>([
    ['says another one', 'OCI_DIGEST_MISMATCH', (_, response) => (response.end('another manifest'), true)],
    ['has no such tag', 'OCI_NOT_FOUND', (_, response) => (response.writeHead(404).end(), true)],
    ['does not answer', 'OCI_UNREACHABLE', (request) => (request.destroy(), true)],
  ])('and %s ends the pull before a layer is fetched: %s', async (_, code, intercept) => {
    await serveApi(intercept)
    const error: unknown = await pull().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code })
    expect(inspect(error, { depth: 20 })).not.toContain(TOKEN)
    expect(bench.registries[0]?.requests.some((line) => line.includes('/blobs/'))).toBe(false)
  })

  it('and does not take the token ends the pull; no other login is tried', async () => {
    await serveApi()
    const auths = { [api.host]: { username: 'me', password: 's3cret' } }
    const credentials = parseDockerConfig(JSON.stringify({ auths }), 'config.json')
    const refused = bench.pull({ registryApi: { host: api.host, token: 'wrong' }, registry: { credentials } })
    await expect(refused).rejects.toMatchObject({ code: 'OCI_CREDENTIALS_REFUSED' })
    expect(asked).toHaveLength(1)
  })

  it('must be allowed on the node like any other, and no mirror gets its token (S43)', async () => {
    await serveApi()
    const [registry] = bench.registries
    const { host } = registry ?? api
    const registryApi = { host: api.host, token: TOKEN }
    const closed = bench.pull({ registryApi, registry: { allow: [host] } })
    await expect(closed).rejects.toMatchObject({ code: 'OCI_NOT_ALLOWED' })
    const unnamed = bench.pull({ registryApi, registry: { plainHttp: [host] } })
    await expect(unnamed).rejects.toMatchObject({ code: 'OCI_ADDRESS_REFUSED' })
    expect(asked).toEqual([])
    await bench.pull({ registryApi, registry: { mirrors: { [api.host]: [host] } } })
    expect(asked).toHaveLength(1)
  })

  it('still speaks when the digest was pinned before: a tag that has moved since is refused', async () => {
    await serveApi()
    const digest = bench.store.tags.get('v1.1.0') ?? digestOf(Buffer.alloc(0))
    const registryApi = { host: api.host, token: TOKEN }
    expect((await bench.pull({ digest, registryApi })).indexDigest).toBe(digest)
    await bench.publish([[{ ...AGENT, content: 'moved' }]])
    await expect(bench.pull({ digest, registryApi })).rejects.toMatchObject({ edgeCode: 'DigestMismatch' })
  })
})
