import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AGENT, FILE, HurriedClock, type Intercept, PullBench } from './testing/index.ts'

const SIZE = 1_000_000
const BIG = { ...AGENT, content: randomBytes(SIZE) }

let bench: PullBench
let clock: HurriedClock

beforeEach(async () => {
  bench = await PullBench.create()
  clock = new HurriedClock()
})

afterEach(() => bench.remove())

/** Does something to the n-th request for a layer and leaves all others to the registry. */
function atLayer(what: (response: ServerResponse, nth: number, from: number) => boolean): Intercept {
  let nth = 0
  return (request, response) => {
    const [layer] = bench.layers()
    if (!request.url?.endsWith(layer?.digest ?? 'none')) return false
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
    return what(response, nth++, from)
  }
}

function layer(): Buffer {
  return bench.layers()[0]?.data ?? Buffer.alloc(0)
}

const pull = (retries: number) => bench.pull({ clock, limits: { retries } })

/** Sends a part of the layer as if it were all of what was asked for, and breaks the connection. */
function breakOff(response: ServerResponse, from: number, to: number): true {
  const rest = layer().length - from
  const range = from > 0 ? { 'content-range': `bytes ${from}-${layer().length - 1}/${layer().length}` } : {}
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': rest, ...range })
  response.write(layer().subarray(from, to), () => response.destroy())
  return true
}

/** F09, R24 */
describe('a connection that breaks off', () => {
  it.each([0.01, 0.5, 0.99])('after %d of the layer is resumed there', async (share) => {
    await bench.publish([[BIG]])
    const asked: number[] = []
    await bench.serve(
      atLayer((response, nth, from) => {
        asked.push(from)
        return nth === 0 && breakOff(response, 0, Math.floor(SIZE * share))
      }),
    )
    const { files } = await pull(1)
    expect(files[FILE]?.size).toBe(SIZE)
    expect(asked).toEqual([0, expect.any(Number)])
    expect(asked[1]).toBeGreaterThan(0)
  })

  it('at every tenth is resumed ten times, with fewer tries allowed: each has brought something', async () => {
    await bench.publish([[BIG]])
    let requests = 0
    await bench.serve(
      atLayer((response, nth, from) => {
        requests++
        return nth < 10 && breakOff(response, from, from + SIZE / 10)
      }),
    )
    expect((await pull(1)).files[FILE]?.size).toBe(SIZE)
    expect(requests).toBe(11)
  })

  it('again and again without a byte is given up, and what had come is kept for the next pull', async () => {
    await bench.publish([[BIG]])
    let broken = true
    const asked: number[] = []
    await bench.serve(
      atLayer((response, nth, from) => {
        asked.push(from)
        return broken && breakOff(response, from, nth === 0 ? SIZE / 2 : from)
      }),
    )
    await expect(pull(2)).rejects.toMatchObject({ code: 'OCI_UNREACHABLE', edgeCode: 'PullFailed' })
    expect(asked).toHaveLength(3)
    broken = false
    expect((await pull(0)).files[FILE]?.size).toBe(SIZE)
    expect(asked.at(-1)).toBeGreaterThan(SIZE / 4)
    expect(await readdir(bench.into)).toEqual(['edgecore'])
  })
})

/** F08, R24: never two downloads in one file. */
describe('what an earlier pull has left', () => {
  const leave = (content: Buffer) => bench.leaveLayer(bench.layers()[0]?.digest ?? '', content)

  it('is hashed again and continued', async () => {
    await bench.publish([[BIG]])
    await leave(layer().subarray(0, 400_000))
    const { ranges } = await bench.serve()
    expect((await pull(0)).files[FILE]?.size).toBe(SIZE)
    expect(ranges).toEqual(['bytes=400000-'])
  })

  it('in full is not fetched again', async () => {
    await bench.publish([[BIG]])
    await leave(layer())
    const { requests } = await bench.serve()
    expect((await pull(0)).files[FILE]?.size).toBe(SIZE)
    expect(requests.filter((line) => line.includes('/blobs/'))).toHaveLength(1)
  })

  it.each([
    ['other bytes of the same length', () => Buffer.alloc(layer().length)],
    ['other bytes, fewer', () => Buffer.alloc(100_000, 1)],
    ['more than there should be', () => Buffer.concat([layer(), Buffer.alloc(10)])],
  ])('as %s is thrown away', async (_, content) => {
    await bench.publish([[BIG]])
    await leave(content())
    expect((await pull(1)).files[FILE]?.size).toBe(SIZE)
  })

  it('as a link to somewhere else is not followed (S34)', async () => {
    await bench.publish([[BIG]])
    const canary = join(bench.into, '..', `canary-${process.pid}`)
    await writeFile(canary, 'untouched')
    await mkdir(join(bench.into, 'layers'))
    const path = join(bench.into, 'layers', bench.layers()[0]?.digest.replace('sha256:', '') ?? '')
    await symlink(canary, path)
    await expect(pull(3)).rejects.toMatchObject({ code: 'ELOOP' })
    expect(await readFile(canary, 'utf8')).toBe('untouched')
    expect(clock.slept).toEqual([])
    expect((await pull(0)).files[FILE]?.size).toBe(SIZE)
    await rm(canary)
  })

  it('of other layers, and half of a file, goes', async () => {
    await bench.publish([[BIG]])
    await mkdir(join(bench.into, 'layers'))
    await writeFile(join(bench.into, 'layers', 'f'.repeat(64)), 'stale')
    await writeFile(join(bench.into, 'edgecore.1234'), 'half')
    await bench.serve(atLayer((response) => breakOff(response, 0, 100_000)))
    await expect(pull(0)).rejects.toMatchObject({ edgeCode: 'PullFailed' })
    expect(await readdir(bench.into)).toEqual(['layers'])
    expect(await readdir(join(bench.into, 'layers'))).toEqual([
      bench.layers()[0]?.digest.replace('sha256:', ''),
    ])
  })
})

/** F09 */
describe('a registry that lies about ranges and lengths', () => {
  const resumedBy = (second: (response: ServerResponse, from: number) => void) =>
    atLayer((response, nth, from) => {
      if (nth === 0) return breakOff(response, 0, SIZE / 2)
      if (nth === 1) second(response, from)
      return nth === 1
    })

  it.each<[string, (response: ServerResponse, from: number) => void]>([
    ['the whole layer, with 200', (response) => response.writeHead(200).end(layer())],
    [
      'a range that begins elsewhere',
      (response, from) =>
        response
          .writeHead(206, { 'content-range': `bytes ${from - 1}-${layer().length - 1}/${layer().length}` })
          .end(layer().subarray(from - 1)),
    ],
    [
      'a range of something longer',
      (response, from) =>
        response
          .writeHead(206, { 'content-range': `bytes ${from}-9999999/10000000` })
          .end(layer().subarray(from)),
    ],
    ['206 without a range', (response, from) => response.writeHead(206).end(layer().subarray(from))],
    ['416', (response) => response.writeHead(416).end()],
    [
      'the right range of other bytes',
      (response, from) =>
        response
          .writeHead(206, { 'content-range': `bytes ${from}-${layer().length - 1}/${layer().length}` })
          .end(Buffer.alloc(layer().length - from)),
    ],
    [
      'a short end',
      (response, from) => response.writeHead(206, rangeOf(from)).end(layer().subarray(from, from + 9)),
    ],
  ])('and answers %s never gets two downloads mixed', async (_, second) => {
    await bench.publish([[BIG]])
    await bench.serve(resumedBy(second))
    const { files } = await pull(2)
    expect(BIG.content.equals(await readFile(files[FILE]?.path ?? ''))).toBe(true)
  })

  const rangeOf = (from: number) => ({
    'content-range': `bytes ${from}-${layer().length - 1}/${layer().length}`,
  })

  it('and sends more than the layer has is cut off there', async () => {
    await bench.publish([[BIG]])
    await bench.serve(
      atLayer((response) => (response.writeHead(200).end(Buffer.concat([layer(), Buffer.alloc(1)])), true)),
    )
    await expect(pull(0)).rejects.toMatchObject({ code: 'OCI_TOO_LONG' })
    expect(await readdir(bench.into)).toEqual([])
  })

  it('and sends other bytes from the start is not asked again', async () => {
    await bench.publish([[BIG]])
    let requests = 0
    await bench.serve(
      atLayer((response) => (requests++, response.writeHead(200).end(Buffer.alloc(layer().length)), true)),
    )
    await expect(pull(3)).rejects.toMatchObject({ code: 'OCI_DIGEST_MISMATCH' })
    expect([requests, await readdir(bench.into)]).toEqual([1, []])
  })
})
