import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AGENT, FILE, HurriedClock, type Intercept, PullBench } from './testing/index.ts'

let bench: PullBench
let clock: HurriedClock

beforeEach(async () => {
  bench = await PullBench.create()
  clock = new HurriedClock()
})

afterEach(() => bench.remove())

const pull = (retries: number) => bench.pull({ clock, limits: { retries } })

/** F09 */
describe('an answer', () => {
  const first = (status: number, headers: Record<string, string> = {}): Intercept => {
    let times = 0
    return (_, response) => times++ === 0 && (response.writeHead(status, headers).end(), true)
  }

  it.each([500, 502, 503, 504, 408])('%d once is asked again', async (status) => {
    await bench.publish([[AGENT]])
    await bench.serve(first(status))
    expect((await pull(1)).files[FILE]?.size).toBe(9)
    expect(clock.slept).toHaveLength(1)
  })

  it.each([
    ['30', 30_000],
    ['100000', 60_000],
    ['Thu, 01 Jan 2026 00:00:20 GMT', 20_000],
  ])('429 with Retry-After: %s is waited for, and then some: %d ms', async (header, ms) => {
    await bench.publish([[AGENT]])
    await bench.serve(first(429, { 'retry-after': header }))
    expect((await pull(1)).files[FILE]?.size).toBe(9)
    expect(clock.slept).toEqual([ms, expect.any(Number)])
  })

  it.each([
    [404, 'OCI_NOT_FOUND'],
    [403, 'OCI_CREDENTIALS_REFUSED'],
    [401, 'OCI_CREDENTIALS_REFUSED'],
    [400, 'OCI_REFUSED'],
    [304, 'OCI_REFUSED'],
  ])('%d is the last word: %s', async (status, code) => {
    const { requests } = await bench.serve((_, response) => (response.writeHead(status).end(), true))
    await expect(pull(5)).rejects.toMatchObject({ code, edgeCode: 'PullFailed' })
    expect(requests).toHaveLength(1)
  })

  it('503 a hundred times is given up after the tries that were allowed, with growing pauses', async () => {
    const { requests } = await bench.serve((_, response) => (response.writeHead(503).end(), true))
    await expect(pull(4)).rejects.toMatchObject({ code: 'OCI_UNREACHABLE' })
    expect(requests).toHaveLength(5)
    clock.slept.forEach((ms, at) => expect(ms).toBeLessThanOrEqual(500 * 2 ** at))
  })
})

describe('a registry that is too slow', () => {
  it('to send a byte a while is left at the end of the window (S11)', async () => {
    await bench.publish([[AGENT]])
    const fake = new FakeClock()
    await bench.serve((request, response) => {
      if (!request.url?.includes('/blobs/')) return false
      response.writeHead(200).write('{')
      setImmediate(() => void fake.advance(30_000))
      return true
    })
    await expect(bench.pull({ clock: fake })).rejects.toMatchObject({
      code: 'OCI_TOO_SLOW',
      edgeCode: 'PullFailed',
    })
  })

  it('to answer at all ends at the deadline (S11)', async () => {
    const fake = new FakeClock()
    await bench.serve(() => (void fake.advance(60_000), true))
    const pull = bench.pull({ clock: fake, limits: { deadlineMs: 60_000 } })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_DEADLINE', edgeCode: 'DownloadTimeout' })
  })

  it('for the caller, who does not want it any more, ends at once with the reason', async () => {
    const abort = new AbortController()
    await bench.serve(() => (abort.abort(new Error('cancelled')), true))
    await expect(bench.pull({ signal: abort.signal })).rejects.toThrow('cancelled')
  })
})

/** S02 */
describe('a registry that sends without end', () => {
  it('a manifest is cut off at the cap', async () => {
    await bench.serve((_, response) => (response.writeHead(200).end(Buffer.alloc(5 * 1024 * 1024, 32)), true))
    await expect(pull(0)).rejects.toMatchObject({ code: 'OCI_TOO_LONG' })
  })

  it('headers is left', async () => {
    await bench.serve((_, response) => (response.writeHead(200, { x: 'y'.repeat(100_000) }).end(), true))
    await expect(pull(0)).rejects.toMatchObject({ code: 'OCI_UNREACHABLE' })
  })

  it.each([
    'not json',
    '[]',
    '{"schemaVersion":2}',
    '{"mediaType":"application/vnd.oci.image.manifest.v1+json","layers":1}',
    `{"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[${'{},'.repeat(300)}{}]}`,
  ])('something else than a manifest is refused (%#)', async (text) => {
    await bench.serve((_, response) => (response.writeHead(200).end(text), true))
    await expect(pull(0)).rejects.toMatchObject({ code: 'OCI_MANIFEST_INVALID', edgeCode: 'BadArchive' })
  })

  it('layers is refused before the first of them is fetched', async () => {
    const one = await bench.store.layer([AGENT])
    const image = bench.store.image(Array.from({ length: 65 }, () => one))
    bench.store.tags.set('v1.1.0', image.digest)
    await expect(pull(0)).rejects.toMatchObject({ code: 'OCI_MANIFEST_INVALID' })
  })
})

/** S15 */
describe('a mirror', () => {
  /** Pulls by digest, so that every byte can be judged. */
  const withMirrors = async (...intercepts: Intercept[]) => {
    const digest = await bench.publish([[AGENT]])
    for (const intercept of intercepts) await bench.serve(intercept)
    const mirrors = { 'registry.example': bench.registries.map(({ host }) => host) }
    const image = { registry: 'registry.example', repository: 'team/edge', digest }
    return () => bench.pull({ image, clock, registry: { mirrors } })
  }

  it.each<[string, Intercept]>([
    ['is away', (request) => (request.destroy(), true)],
    ['does not have it', (_, response) => (response.writeHead(404).end(), true)],
    ['wants a login', (_, response) => (response.writeHead(401).end(), true)],
    ['sends other bytes', (_, response) => (response.writeHead(200).end(Buffer.alloc(9)), true)],
    ['sends without end', (_, response) => (response.writeHead(200).end(Buffer.alloc(5_000_000)), true)],
  ])('that %s is passed over for the next one', async (_, misbehave) => {
    const pull = await withMirrors(misbehave, () => false)
    expect((await pull()).files[FILE]?.size).toBe(9)
  })

  it('that fails is asked last from then on', async () => {
    const pull = await withMirrors(
      (_, response) => (response.writeHead(500).end(), true),
      () => false,
    )
    await pull()
    expect(bench.registries.map(({ requests }) => requests.length)).toEqual([1, 4])
  })

  it('and another that both fail end the pull with the words of both', async () => {
    const answer =
      (status: number): Intercept =>
      (_, response) => (response.writeHead(status).end(), true)
    const pull = await withMirrors(answer(500), answer(404))
    await expect(pull()).rejects.toMatchObject({ code: 'OCI_NOT_FOUND' })
    await expect(pull()).rejects.toThrow(/answer 500.*; .*\/v2\/.*answer 404, the registry does not have it/)
  })
})
