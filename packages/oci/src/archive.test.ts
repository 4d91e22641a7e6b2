import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OciCode } from './errors.ts'
import type { PullLimits } from './settings.ts'
import { AGENT, archive, type Entry, FILE, PullBench, TAG } from './testing/index.ts'

let bench: PullBench

beforeEach(async () => {
  bench = await PullBench.create()
})

afterEach(() => bench.remove())

interface Case {
  readonly title: string
  readonly code: OciCode
  readonly entries: readonly Entry[]
  readonly limits: Partial<PullLimits>
}

type Row = readonly [string, OciCode, readonly Entry[], Partial<PullLimits>?]

const instead = (type: NonNullable<Entry['type']>): readonly Entry[] => [
  { name: AGENT.name, type, linkname: '/etc/passwd' },
]
const called = (name: string, more: object = {}): readonly Entry[] => [{ ...AGENT, name, ...more }]

const ROWS: readonly Row[] = [
  ['a link in the place of the file', 'OCI_ARCHIVE_NOT_REGULAR', instead('symlink')],
  ['a hard link in the place of the file', 'OCI_ARCHIVE_NOT_REGULAR', instead('link')],
  ['a character device in the place of the file', 'OCI_ARCHIVE_NOT_REGULAR', instead('character-device')],
  ['a block device in the place of the file', 'OCI_ARCHIVE_NOT_REGULAR', instead('block-device')],
  ['a folder in the place of the file', 'OCI_ARCHIVE_NOT_REGULAR', instead('directory')],
  ['a fifo in the place of the file', 'OCI_ARCHIVE_NOT_REGULAR', instead('fifo')],
  ['a link first and then the file', 'OCI_ARCHIVE_NOT_REGULAR', [...instead('symlink'), AGENT]],
  [
    'a link in the place of a folder above the file',
    'OCI_ARCHIVE_NOT_REGULAR',
    [
      { name: 'usr/local', type: 'directory' },
      { name: 'usr/local', type: 'symlink', linkname: '/etc' },
      AGENT,
    ],
  ],
  ['the file twice', 'OCI_ARCHIVE_DUPLICATE', [AGENT, AGENT]],
  ['the file twice, once with a dot', 'OCI_ARCHIVE_DUPLICATE', [AGENT, ...called(`./${AGENT.name}`)]],
  ['a climbing name', 'OCI_ARCHIVE_BAD_NAME', [AGENT, ...called('../x')]],
  ['an absolute climbing name', 'OCI_ARCHIVE_BAD_NAME', [AGENT, ...called('/../x')]],
  ['a winding name', 'OCI_ARCHIVE_BAD_NAME', called('usr/local/../local/bin/edgecore')],
  ['a NUL in a name', 'OCI_ARCHIVE_BAD_NAME', called('x', { pax: { path: `${AGENT.name}\0x` } })],
  ['a name without end', 'OCI_ARCHIVE_BAD_NAME', called('x', { pax: { path: 'a/'.repeat(2500) } })],
  ['the file under another case only', 'OCI_ARCHIVE_FILE_MISSING', called('usr/local/bin/EdgeCore')],
  [
    'the file under another Unicode form only',
    'OCI_ARCHIVE_FILE_MISSING',
    called('usr/local/bin/edgeco\u0301re'),
  ],
  ['the file under backslashes only', 'OCI_ARCHIVE_FILE_MISSING', called('usr\\local\\bin\\edgecore')],
  ['the file on another drive only', 'OCI_ARCHIVE_FILE_MISSING', called('C:/usr/local/bin/edgecore')],
  ['the file under a longer name only', 'OCI_ARCHIVE_FILE_MISSING', called('usr/local/bin/edgecore_config')],
  ['nothing', 'OCI_ARCHIVE_FILE_MISSING', []],
  [
    'more entries than allowed',
    'OCI_ARCHIVE_TOO_MANY_ENTRIES',
    [AGENT, { name: 'a' }, { name: 'b' }],
    { maxEntries: 2 },
  ],
  [
    'a larger file than allowed',
    'OCI_ARCHIVE_FILE_TOO_LARGE',
    [{ ...AGENT, content: 'x'.repeat(2000) }],
    { maxFileBytes: 1000 },
  ],
  [
    'more than it may unpack to',
    'OCI_ARCHIVE_TOO_LARGE',
    [AGENT, { name: 'bomb', content: Buffer.alloc(3_000_000) }],
    { maxUnpackedBytes: 1_000_000 },
  ],
]

const HOSTILE = ROWS.map(([title, code, entries, limits = {}]): Case => ({ title, code, entries, limits }))

/** S30 */
describe('an archive', () => {
  it.each(HOSTILE)(
    'with $title is refused as $code and leaves nothing',
    async ({ code, entries, limits }) => {
      await bench.publish([entries])
      await expect(bench.pull({ limits })).rejects.toMatchObject({ code, edgeCode: 'BadArchive' })
      expect(await readdir(bench.into)).toEqual([])
    },
  )

  it('whose file says it has a tebibyte is refused by that alone', async () => {
    const tar = await archive([AGENT])
    // A size in base 256, as GNU tar writes what octal digits cannot; with the checksum that belongs to it.
    tar.fill(0, 124, 136)
    tar.writeUInt8(0x80, 124)
    tar.writeBigUInt64BE(1n << 40n, 128)
    tar.write('        ', 148)
    const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0)
    tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    bench.store.tags.set(TAG, bench.store.image([bench.store.rawLayer(tar)]).digest)
    await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_ARCHIVE_FILE_TOO_LARGE' })
  })

  it('of a thousand times its size is cut off at the cap, within bounds of memory', async () => {
    await bench.publish([[AGENT, { name: 'bomb', content: Buffer.alloc(64 * 1024 * 1024) }]])
    const before = process.memoryUsage().rss
    const pull = bench.pull({ limits: { maxUnpackedBytes: 32 * 1024 * 1024 } })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_ARCHIVE_TOO_LARGE' })
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  })

  it('writes nothing but the named file, whatever else is in it', async () => {
    const canary = join(bench.into, '..', `canary-${process.pid}`)
    await writeFile(canary, 'untouched')
    await bench.publish([
      [
        { name: '/etc/x', content: 'y' },
        { name: 'd', type: 'symlink', linkname: '/' },
        { name: `d${canary}`, content: 'through a link' },
        { name: 'l', type: 'link', linkname: canary },
        { name: 'l', content: 'through a hard link' },
        { name: 'dev', type: 'character-device', devmajor: 1, devminor: 1 },
        { name: 'usr/local/bin/EDGECORE', content: 'z' },
        AGENT,
      ],
    ])
    await bench.pull()
    expect(await readdir(bench.into)).toEqual(['edgecore'])
    expect(await readFile(canary, 'utf8')).toBe('untouched')
    await rm(canary)
  })

  it('cannot make the file setuid, another’s, or readable by others before it is verified', async () => {
    await bench.publish([[{ ...AGENT, mode: 0o6777, uid: 12345, gid: 12345 }]])
    const { files } = await bench.pull()
    const { mode, uid } = await stat(join(bench.into, 'edgecore'))
    expect([files[FILE]?.mode, mode & 0o7777, uid]).toEqual([0o777, 0o600, process.getuid?.()])
  })

  it('is free to keep the file as PAX says, with its long name and attributes', async () => {
    await bench.publish([
      [{ ...AGENT, name: 'short', pax: { path: AGENT.name, 'SCHILY.xattr.security.capability': 'x' } }],
    ])
    expect((await bench.pull()).files[FILE]?.size).toBe(9)
  })

  it.each(['.wh.edgecore', '.wh..wh..opq'])('that hides the file by %s hides it', async (whiteout) => {
    await bench.publish([[AGENT], [{ name: `usr/local/bin/${whiteout}` }]])
    await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_ARCHIVE_FILE_REMOVED' })
  })

  it('that hides what is below and has the file itself has it', async () => {
    await bench.publish([[{ ...AGENT, content: 'older' }], [{ name: 'usr/local/bin/.wh..wh..opq' }, AGENT]])
    expect((await bench.pull()).files[FILE]?.size).toBe(9)
  })

  it('in a lower layer is hidden by a link above the file in a higher one', async () => {
    await bench.publish([[AGENT], [{ name: 'usr/local', type: 'symlink', linkname: '/opt' }]])
    await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_ARCHIVE_NOT_REGULAR' })
  })

  it.each([1, 300, 600, 1000])('that ends after %d bytes is refused', async (length) => {
    const tar = (await archive([{ ...AGENT, content: 'x'.repeat(900) }])).subarray(0, length)
    bench.store.tags.set(TAG, bench.store.image([bench.store.rawLayer(tar)]).digest)
    await expect(bench.pull()).rejects.toMatchObject({ edgeCode: 'BadArchive' })
    expect(await readdir(bench.into)).toEqual([])
  })

  it.each(['gzip', 'zstd'] as const)(
    'that is not packed with %s as it says is refused',
    async (compression) => {
      const layer = bench.store.rawLayer(await archive([AGENT]), 'none')
      const mediaType = `application/vnd.oci.image.layer.v1.tar+${compression}`
      const image = bench.store.image([{ ...layer, descriptor: { ...layer.descriptor, mediaType } }])
      bench.store.tags.set(TAG, image.digest)
      await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_ARCHIVE_BROKEN' })
    },
  )

  it('that is longer than its manifest says is refused', async () => {
    const layer = await bench.store.layer([AGENT])
    const image = bench.store.image([{ ...layer, descriptor: { ...layer.descriptor, size: 10 } }])
    bench.store.tags.set(TAG, image.digest)
    await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_TOO_LONG', edgeCode: 'BadArchive' })
  })
})
