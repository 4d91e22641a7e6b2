import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Descriptor, MEDIA, makeLayout } from './image-layout.ts'
import { type Registry, startRegistry } from './registry.ts'

let folder: string
let registry: Registry
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`http://${registry.host}${path}`, { headers, method })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'registry-'))
  await makeLayout(folder, { 'v1.0.0': [{ path: '/usr/local/bin/edgecore', content: 'one' }] })
  registry = await startRegistry(folder)
})

afterAll(async () => {
  await registry.stop()
  await rm(folder, { recursive: true })
})

describe('the registry of the demo', () => {
  it('leads from a tag to every blob, each with the digest that was promised', async () => {
    const index = await get('/v2/any/name/manifests/v1.0.0')
    expect(index.headers.get('content-type')).toBe(MEDIA.index)
    const [platform] = ((await index.json()) as { manifests: Descriptor[] }).manifests
    const manifest = await (await get(`/v2/any/name/manifests/${platform!.digest}`)).json()
    const { config, layers } = manifest as { config: Descriptor; layers: Descriptor[] }
    for (const { digest, size } of [config, ...layers]) {
      const bytes = Buffer.from(await (await get(`/v2/any/name/blobs/${digest}`)).arrayBuffer())
      expect(bytes.length).toBe(size)
      expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest)
    }
  })

  it('goes on where a download stopped', async () => {
    const digest = (await get('/v2/a/b/manifests/v1.0.0', {}, 'HEAD')).headers.get('docker-content-digest')
    const whole = await (await get(`/v2/a/b/blobs/${digest}`)).text()
    const rest = await get(`/v2/a/b/blobs/${digest}`, { range: 'bytes=10-' })
    expect(rest.status).toBe(206)
    expect(await rest.text()).toBe(whole.slice(10))
  })

  it.each([
    '/v2/a/b/manifests/v9.9.9',
    '/v2/a/b/blobs/../../../etc/passwd',
    `/v2/a/b/blobs/sha256:${'0'.repeat(64)}`,
    '/',
    '/v3/',
  ])('answers 404 to %s', async (path) => expect((await get(path)).status).toBe(404))

  it('takes nothing', async () => {
    expect((await get('/v2/a/b/blobs/uploads/', {}, 'POST')).status).toBe(405)
  })
})
