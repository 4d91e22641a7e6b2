import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@upgrade-hub/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type PullOptions, pullImage } from './pull.ts'
import { DEFAULT_LIMITS, type PullLimits } from './settings.ts'
import {
  archive,
  type Compression,
  type Entry,
  HOST,
  ImageStore,
  type Intercept,
  startTestRegistry,
  type TestRegistry,
} from './testing/index.ts'

const FILE = '/usr/local/bin/edgecore'
const AGENT = { name: 'usr/local/bin/edgecore', content: 'the agent' }

let into: string
let store: ImageStore
let registry: TestRegistry | undefined

beforeEach(async () => {
  into = await mkdtemp(join(tmpdir(), 'upgrade-hub-pull-'))
  store = new ImageStore()
})

afterEach(async () => {
  await registry?.stop()
  registry = undefined
  await rm(into, { recursive: true, force: true })
})

async function serve(intercept?: Intercept): Promise<TestRegistry> {
  registry = await startTestRegistry(store, intercept)
  return registry
}

type Change = Partial<Omit<PullOptions, 'limits'>> & { readonly limits?: Partial<PullLimits> }

async function pull({ limits, ...change }: Change = {}) {
  const { host } = registry ?? (await serve())
  return pullImage({
    image: { registry: host, repository: 'team/edge', tag: 'v1.1.0' },
    platform: HOST,
    files: [FILE],
    into,
    registry: { plainHttp: [host], allow: [] },
    limits: { ...DEFAULT_LIMITS, retries: 0, ...limits },
    clock: systemClock,
    signal: new AbortController().signal,
    ...change,
  })
}

/** Publishes layers as one image behind the usual tag. */
async function publish(layers: readonly (readonly Entry[])[], compression?: Compression): Promise<string> {
  const made = await Promise.all(layers.map((entries) => store.layer(entries, compression)))
  const { digest } = store.index([{ image: store.image(made), platform: HOST }])
  store.tags.set('v1.1.0', digest)
  return digest
}

describe('a pull', () => {
  it.each(['gzip', 'zstd', 'none'] as const)(
    'finds the file in a layer packed with %s',
    async (compression) => {
      const indexDigest = await publish([[AGENT]], compression)
      const { files, ...pulled } = await pull()
      expect(pulled).toMatchObject({ indexDigest, platform: HOST })
      expect(files[FILE]).toMatchObject({ path: join(into, 'edgecore'), size: 9, mode: 0o755 })
      expect(await readFile(join(into, 'edgecore'), 'utf8')).toBe('the agent')
    },
  )

  it('takes the file of the topmost layer and does not fetch what is below', async () => {
    await publish([[{ ...AGENT, content: 'older' }], [AGENT]])
    const { requests } = await serve()
    const { files } = await pull()
    expect(files[FILE]?.size).toBe(9)
    expect(requests.filter((line) => line.includes('/blobs/'))).toHaveLength(2)
  })

  it('says how far it is', async () => {
    await publish([[AGENT]])
    const seen: { bytes: number; total: number }[] = []
    await pull({ onProgress: (done) => seen.push(done) })
    expect(seen.at(-1)?.bytes).toBe(seen.at(-1)?.total)
  })

  it('takes the manifest of its own platform and says so when there is none', async () => {
    const ours = store.image([await store.layer([AGENT])])
    const other = store.image([await store.layer([{ ...AGENT, content: 'other' }])])
    const arm = { os: 'linux', arch: 'arm', variant: 'v6' }
    const index = store.index([
      { image: other, platform: arm },
      { image: ours, platform: HOST },
    ])
    store.tags.set('v1.1.0', index.digest)
    expect((await pull()).manifestDigest).toBe(ours.digest)
    const v7 = { os: 'linux', arch: 'arm', variant: 'v7' }
    await expect(pull({ platform: v7 })).rejects.toMatchObject({ edgeCode: 'WrongPlatform' })
  })

  it('asks for nothing but the pinned digest, so a tag that moves changes nothing', async () => {
    const digest = await publish([[AGENT]])
    await publish([[{ ...AGENT, content: 'moved' }]])
    const { requests } = await serve()
    expect((await pull({ digest })).indexDigest).toBe(digest)
    expect(requests.some((line) => line.endsWith('/v1.1.0'))).toBe(false)
  })

  it('refuses a manifest that is not the one named for the platform', async () => {
    await publish([[AGENT]])
    const digests = { [`${HOST.os}/${HOST.arch}`]: `sha256:${'0'.repeat(64)}` }
    await expect(pull({ digests })).rejects.toMatchObject({ edgeCode: 'DigestMismatch' })
  })

  it('asks no registry that is not allowed', async () => {
    await publish([[AGENT]])
    const { host, requests } = await serve()
    const settings = { plainHttp: [host], allow: ['registry.example'] }
    await expect(pull({ registry: settings })).rejects.toMatchObject({ edgeCode: 'PolicyRefused' })
    expect(requests).toEqual([])
  })
})

/** F09 */
describe('a registry that misbehaves', () => {
  const blobOnce = (misbehave: Intercept): Intercept => {
    let times = 0
    return (request, response) =>
      request.url?.includes('/blobs/') === true && times++ === 0 && misbehave(request, response)
  }

  it.each<[string, Intercept]>([
    [
      'breaks off',
      (_, response) => (
        response.writeHead(200, { 'content-length': 999 }).write('x'), response.destroy(), true
      ),
    ],
    ['answers 503', (_, response) => (response.writeHead(503).end(), true)],
    [
      'answers 429 with Retry-After',
      (_, response) => (response.writeHead(429, { 'retry-after': '0.05' }).end(), true),
    ],
  ])('once that %s is asked again', async (_, misbehave) => {
    await publish([[AGENT]])
    await serve(blobOnce(misbehave))
    expect((await pull({ limits: { retries: 2 } })).files[FILE]?.size).toBe(9)
  })

  it('that always fails is given up after the tries that were allowed', async () => {
    const { requests } = await serve((_, response) => (response.writeHead(500).end(), true))
    await expect(pull({ limits: { retries: 1 } })).rejects.toMatchObject({ edgeCode: 'PullFailed' })
    expect(requests).toHaveLength(2)
  })

  it('that says 404 is not asked again', async () => {
    const { requests } = await serve()
    await expect(pull({ limits: { retries: 3 } })).rejects.toMatchObject({ edgeCode: 'PullFailed' })
    expect(requests).toHaveLength(1)
  })

  it('that sends other bytes than their digest is not believed, and nothing stays', async () => {
    await publish([[AGENT]])
    const evil = await new ImageStore().layer([{ ...AGENT, content: 'evil' }])
    for (const [digest, blob] of store.blobs) {
      if (blob.type.includes('layer')) store.blobs.set(digest, { ...blob, data: await packed(evil.diffId) })
    }
    await expect(pull()).rejects.toMatchObject({
      edgeCode: expect.stringMatching(/DigestMismatch|BadArchive/) as string,
    })
    expect(await readdir(into)).toEqual([])
  })

  it('whose config names another content than the layer has is not believed', async () => {
    const layer = await store.layer([AGENT])
    const image = store.image([{ ...layer, diffId: `sha256:${'0'.repeat(64)}` }])
    store.tags.set('v1.1.0', image.digest)
    await expect(pull()).rejects.toMatchObject({ edgeCode: 'DigestMismatch' })
    expect(await readdir(into)).toEqual([])
  })

  it('that is slower than the minimum rate is left', async () => {
    await publish([[AGENT]])
    await serve((request, response) => {
      if (!request.url?.includes('/manifests/')) return false
      response.writeHead(200).write('{')
      return true
    })
    const limits = { rateWindowMs: 300, minBytesPerSecond: 100 }
    await expect(pull({ limits })).rejects.toMatchObject({ edgeCode: 'PullFailed' })
  })

  it('that never answers ends at the deadline', async () => {
    await serve(() => true)
    await expect(pull({ limits: { deadlineMs: 200 } })).rejects.toMatchObject({ edgeCode: 'DownloadTimeout' })
  })

  it('ends when the caller does not want it any more, with the reason', async () => {
    const abort = new AbortController()
    await serve(() => (abort.abort(new Error('cancelled')), true))
    await expect(pull({ signal: abort.signal })).rejects.toThrow('cancelled')
  })

  it('that sends a manifest without end is cut off at the cap', async () => {
    await serve((_, response) => (response.writeHead(200).end(Buffer.alloc(5 * 1024 * 1024, 32)), true))
    await expect(pull()).rejects.toMatchObject({ edgeCode: 'BadArchive' })
  })

  it.each([
    'not json',
    '[]',
    '{"schemaVersion":2}',
    '{"mediaType":"application/vnd.oci.image.manifest.v1+json","layers":1}',
  ])('that sends the manifest %s is refused', async (text) => {
    await serve((_, response) => (response.writeHead(200).end(text), true))
    await expect(pull()).rejects.toMatchObject({ edgeCode: 'BadArchive' })
  })
})

/** S42 */
describe('a redirect', () => {
  it('is followed without the token of the registry', async () => {
    await publish([[AGENT]])
    const authorizations: (string | undefined)[] = []
    const storage = await startTestRegistry(
      store,
      (request) => (authorizations.push(request.headers.authorization), false),
    )
    await serve((request, response) => {
      if (request.url?.startsWith('/token')) return (response.end('{"token":"t0k3n"}'), true)
      if (request.headers.authorization !== 'Bearer t0k3n') {
        const challenge = `Bearer realm="http://${registry?.host}/token",service="x",scope="repository:team/edge:pull"`
        return (response.writeHead(401, { 'www-authenticate': challenge }).end(), true)
      }
      if (!request.url?.includes('/blobs/')) return false
      return (response.writeHead(307, { location: `http://${storage.host}${request.url}` }).end(), true)
    })
    expect((await pull()).files[FILE]?.size).toBe(9)
    expect(authorizations.length).toBeGreaterThan(0)
    expect(authorizations.filter((value) => value !== undefined)).toEqual([])
    await storage.stop()
  })

  it('in a circle ends', async () => {
    const { requests } = await serve(
      (request, response) => (response.writeHead(302, { location: request.url }).end(), true),
    )
    await expect(pull()).rejects.toMatchObject({ edgeCode: 'PullFailed' })
    expect(requests.length).toBeLessThanOrEqual(DEFAULT_LIMITS.maxRedirects + 1)
  })

  it.each([
    'http://169.254.169.254/latest',
    'http://localhost:1/',
    'http://[::1]/',
    'file:///etc/passwd',
    'http://a:b@c/',
  ])('to %s is refused', async (location) => {
    await serve((_, response) => (response.writeHead(302, { location }).end(), true))
    await expect(pull()).rejects.toThrow('the registry redirects')
  })
})

/** S30 */
describe('an archive', () => {
  const hostile: readonly [string, readonly Entry[], Partial<PullLimits>?][] = [
    ['a link in the place of the file', [{ name: AGENT.name, type: 'symlink', linkname: '/etc/passwd' }]],
    ['a hard link in the place of the file', [{ name: AGENT.name, type: 'link', linkname: 'etc/passwd' }]],
    ['a device in the place of the file', [{ name: AGENT.name, type: 'character-device' }]],
    ['a folder in the place of the file', [{ name: AGENT.name, type: 'directory' }]],
    ['a fifo in the place of the file', [{ name: AGENT.name, type: 'fifo' }]],
    ['the file twice', [AGENT, AGENT]],
    ['a link first and then the file', [{ name: AGENT.name, type: 'symlink', linkname: '/tmp/x' }, AGENT]],
    ['only the file under a climbing name', [{ ...AGENT, name: '../usr/local/bin/edgecore' }]],
    ['only the file under a winding name', [{ ...AGENT, name: 'usr/local/../local/bin/edgecore' }]],
    ['only the file under another case', [{ ...AGENT, name: 'usr/local/bin/EdgeCore' }]],
    [
      'only the file with a NUL in its name',
      [{ ...AGENT, name: 'usr/local/bin/edgecore\0x', pax: { path: `${AGENT.name}\0x` } }],
    ],
    ['only the file with backslashes', [{ ...AGENT, name: 'usr\\local\\bin\\edgecore' }]],
    ['more entries than allowed', [AGENT, { name: 'a' }, { name: 'b' }], { maxEntries: 2 }],
    ['a larger file than allowed', [{ ...AGENT, content: 'x'.repeat(2000) }], { maxFileBytes: 1000 }],
    [
      'more than it may unpack to',
      [AGENT, { name: 'bomb', content: Buffer.alloc(3_000_000) }],
      { maxUnpackedBytes: 1_000_000 },
    ],
  ]

  it.each(hostile)('with %s is refused and leaves nothing', async (_, entries, limits) => {
    await publish([entries])
    await expect(pull(limits ? { limits } : {})).rejects.toMatchObject({ edgeCode: 'BadArchive' })
    expect(await readdir(into)).toEqual([])
  })

  it('writes nothing but the named file, whatever else is in it', async () => {
    const canary = join(into, '..', `canary-${process.pid}`)
    await writeFile(canary, 'untouched')
    await publish([
      [
        { name: `../canary-${process.pid}`, content: 'x' },
        { name: '/etc/x', content: 'y' },
        { name: 'd', type: 'symlink', linkname: '/' },
        AGENT,
      ],
    ])
    await pull()
    expect(await readdir(into)).toEqual(['edgecore'])
    expect(await readFile(canary, 'utf8')).toBe('untouched')
    await rm(canary)
  })

  it('cannot make the file setuid or readable by others before it is verified', async () => {
    await publish([[{ ...AGENT, mode: 0o6777 }]])
    const { files } = await pull()
    expect(files[FILE]?.mode).toBe(0o777)
    expect((await stat(join(into, 'edgecore'))).mode & 0o7777).toBe(0o600)
  })

  it.each(['.wh.edgecore', '.wh..wh..opq'])('that hides the file by %s hides it', async (whiteout) => {
    await publish([[AGENT], [{ name: `usr/local/bin/${whiteout}` }]])
    await expect(pull()).rejects.toMatchObject({ edgeCode: 'BadArchive' })
  })

  it.each([1, 300, 600, 1000])('that ends after %d bytes is refused', async (length) => {
    const tar = (await archive([{ ...AGENT, content: 'x'.repeat(900) }])).subarray(0, length)
    const image = store.image([store.rawLayer(tar)])
    store.tags.set('v1.1.0', image.digest)
    await expect(pull()).rejects.toMatchObject({ edgeCode: 'BadArchive' })
    expect(await readdir(into)).toEqual([])
  })

  it('that is not packed as it says is refused', async () => {
    const layer = store.rawLayer(await archive([AGENT]), 'none')
    const type = 'application/vnd.oci.image.layer.v1.tar+gzip'
    const image = store.image([{ ...layer, descriptor: { ...layer.descriptor, mediaType: type } }])
    store.tags.set('v1.1.0', image.digest)
    await expect(pull()).rejects.toMatchObject({ edgeCode: 'BadArchive' })
  })

  it('that is longer than its manifest says is refused', async () => {
    const layer = await store.layer([AGENT])
    const image = store.image([{ ...layer, descriptor: { ...layer.descriptor, size: 10 } }])
    store.tags.set('v1.1.0', image.digest)
    await expect(pull()).rejects.toMatchObject({ edgeCode: 'BadArchive' })
  })
})

async function packed(text: string): Promise<Buffer> {
  const other = new ImageStore()
  const { descriptor } = await other.layer([{ name: 'other', content: text }])
  return other.blobs.get(descriptor.digest)?.data ?? Buffer.alloc(0)
}
