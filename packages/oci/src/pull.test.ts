import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Platform } from './manifest.ts'
import { AGENT, FILE, HOST, PullBench, TAG } from './testing/index.ts'

let bench: PullBench

beforeEach(async () => {
  bench = await PullBench.create()
})

afterEach(() => bench.remove())

describe('a pull', () => {
  it.each(['gzip', 'zstd', 'none'] as const)(
    'finds the file in a layer packed with %s',
    async (compression) => {
      const indexDigest = await bench.publish([[AGENT]], compression)
      const { files, ...pulled } = await bench.pull()
      expect(pulled).toMatchObject({ indexDigest, platform: HOST })
      expect(files[FILE]).toMatchObject({ path: join(bench.into, 'edgecore'), size: 9, mode: 0o755 })
      expect(await readFile(join(bench.into, 'edgecore'), 'utf8')).toBe('the agent')
      expect(await readdir(bench.into)).toEqual(['edgecore'])
    },
  )

  it('reads an image that docker has made, schema 2 throughout', async () => {
    const DOCKER = 'application/vnd.docker'
    const layer = await bench.store.layer([AGENT])
    const descriptor = { ...layer.descriptor, mediaType: `${DOCKER}.image.rootfs.diff.tar.gzip` }
    const image = bench.store.image([{ ...layer, descriptor }], (manifest) => ({
      ...manifest,
      mediaType: `${DOCKER}.distribution.manifest.v2+json`,
    }))
    const index = bench.store.index(
      [{ image, platform: HOST }],
      `${DOCKER}.distribution.manifest.list.v2+json`,
    )
    bench.store.tags.set(TAG, index.digest)
    expect((await bench.pull()).files[FILE]?.size).toBe(9)
  })

  it('takes the file of the topmost layer and does not fetch what is below', async () => {
    await bench.publish([[{ ...AGENT, content: 'older' }], [AGENT]])
    const { requests } = await bench.serve()
    const { files } = await bench.pull()
    expect(files[FILE]?.size).toBe(9)
    expect(requests.filter((line) => line.includes('/blobs/'))).toHaveLength(2)
  })

  it('says how far it is, and never more than there is', async () => {
    await bench.publish([[{ ...AGENT, content: randomBytes(3_000_000) }]])
    const seen: { bytes: number; total: number }[] = []
    await bench.pull({ onProgress: (done) => seen.push(done) })
    expect(seen.at(-1)?.bytes).toBe(seen.at(-1)?.total)
    expect(seen).toEqual(seen.toSorted((one, other) => one.bytes - other.bytes))
  })

  it('fails with the numbers before it fetches what the disk has no room for (R22)', async () => {
    const layer = await bench.store.layer([AGENT])
    const descriptor = { ...layer.descriptor, size: 2 ** 50 }
    const image = bench.store.image([{ ...layer, descriptor }])
    bench.store.tags.set(TAG, image.digest)
    const pull = bench.pull({ limits: { maxLayerBytes: 2 ** 51 } })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_NO_SPACE', edgeCode: 'NoSpace' })
    await expect(pull).rejects.toThrow(/needs 1125899906842624 bytes, \d+ are free/)
  })
})

/** R39 */
describe('the platform', () => {
  const arm = (variant: string): Platform => ({ os: 'linux', arch: 'arm', variant })

  async function publishFor(platforms: readonly Platform[]): Promise<Map<Platform, string>> {
    const images = new Map<Platform, string>()
    const entries = []
    for (const platform of platforms) {
      const content = Object.values(platform).join('/')
      const image = bench.store.image([await bench.store.layer([{ ...AGENT, content }])])
      images.set(platform, image.digest)
      entries.push({ image, platform })
    }
    bench.store.tags.set(TAG, bench.store.index(entries).digest)
    return images
  }

  it('is that of the node, with the variant that is the node’s', async () => {
    const platforms = [arm('v6'), { os: 'linux', arch: 'amd64' }, arm('v7'), { os: 'linux', arch: 'arm64' }]
    const images = await publishFor(platforms)
    for (const platform of platforms)
      expect((await bench.pull({ platform })).manifestDigest).toBe(images.get(platform))
  })

  it('of an older ARM will do where there is none for the node, and a newer one never', async () => {
    const v6 = arm('v6')
    const images = await publishFor([v6])
    expect((await bench.pull({ platform: arm('v7') })).manifestDigest).toBe(images.get(v6))
    await expect(bench.pull({ platform: arm('v5') })).rejects.toMatchObject({ edgeCode: 'WrongPlatform' })
  })

  it.each([
    [[{ os: 'linux', arch: 'amd64' }], { os: 'linux', arch: 'arm64' }],
    [[{ os: 'linux', arch: 'amd64', variant: 'v3' }], { os: 'linux', arch: 'amd64' }],
    [[{ os: 'windows', arch: 'amd64' }], { os: 'linux', arch: 'amd64' }],
    [[], { os: 'linux', arch: 'amd64' }],
  ] as const)('is missing from %j', async (there, platform) => {
    await publishFor(there)
    await expect(bench.pull({ platform })).rejects.toMatchObject({ edgeCode: 'WrongPlatform' })
  })

  it('of an image without an index is what its config says', async () => {
    const image = bench.store.image([await bench.store.layer([AGENT])], undefined, {
      os: 'linux',
      architecture: 's390x',
    })
    bench.store.tags.set(TAG, image.digest)
    const s390x = { os: 'linux', arch: 's390x' }
    expect((await bench.pull({ platform: s390x })).indexDigest).toBe(image.digest)
    await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_WRONG_PLATFORM' })
  })
})

/** S05, S18, S34 */
describe('a digest', () => {
  it('that is pinned is all that is asked for, so a tag that moves changes nothing', async () => {
    const digest = await bench.publish([[AGENT]])
    await bench.publish([[{ ...AGENT, content: 'moved' }]])
    const { requests } = await bench.serve()
    expect((await bench.pull({ digest })).indexDigest).toBe(digest)
    expect(requests.some((line) => line.endsWith(`/${TAG}`))).toBe(false)
  })

  it('of the tag is resolved once: what moves it on the way changes nothing', async () => {
    const digest = await bench.publish([[AGENT]])
    let move: Promise<string> | undefined
    await bench.serve((request) => {
      if (request.url?.includes('/blobs/')) move ??= bench.publish([[{ ...AGENT, content: 'moved' }]])
      return false
    })
    const { files, indexDigest } = await bench.pull()
    expect([indexDigest, files[FILE]?.size]).toEqual([digest, 9])
    expect(await move).not.toBe(digest)
  })

  it('that is named for the platform must be that of its manifest, or of the index', async () => {
    const index = await bench.publish([[AGENT]])
    const name = `${HOST.os}/${HOST.arch}`
    const { manifestDigest } = await bench.pull({ digests: { [name]: index } })
    expect((await bench.pull({ digests: { [name]: manifestDigest } })).manifestDigest).toBe(manifestDigest)
    const other = bench.pull({ digests: { [name]: `sha256:${'0'.repeat(64)}` } })
    await expect(other).rejects.toMatchObject({ edgeCode: 'DigestMismatch' })
    expect((await bench.pull({ digests: { 'linux/mips': 'sha256:0' } })).indexDigest).toBe(index)
  })

  it('of bytes that came is not that of the manifest: nothing is unpacked', async () => {
    await bench.publish([[AGENT]])
    for (const [digest, { data, type }] of bench.store.blobs) {
      if (type.includes('layer')) bench.store.blobs.set(digest, { data: Buffer.alloc(data.length, 1), type })
    }
    await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_DIGEST_MISMATCH' })
    expect(await readdir(bench.into)).toEqual([])
  })

  it('of what a layer unpacks to must be that of the config', async () => {
    const layer = await bench.store.layer([AGENT])
    const image = bench.store.image([{ ...layer, diffId: `sha256:${'0'.repeat(64)}` }])
    bench.store.tags.set(TAG, image.digest)
    await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_DIGEST_MISMATCH' })
    expect(await readdir(bench.into)).toEqual([])
  })
})
