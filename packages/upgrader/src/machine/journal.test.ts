import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { UnreadableError } from '../errors.ts'
import { recordOf } from './fold.ts'
import { Journal, readJournal } from './journal.ts'
import type { AttemptEvent } from './state.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upgrade-hub-journal-'))
  path = join(folder, 'journal.jsonl')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(events: readonly AttemptEvent[]): Promise<void> {
  const journal = await Journal.open(path)
  for (const event of events) {
    await journal.append(recordOf(journal.state, event, { at: '2026-01-01T00:00:00Z', boot: 'a', mono: 1 }))
  }
  await journal.close()
}

const ok: AttemptEvent = { type: 'ok' }
const accepted: AttemptEvent = { type: 'accepted', intentSeq: 1, confirm: false }

describe('a journal', () => {
  it('tells after a restart what was written before it', async () => {
    await write([accepted, ok, { type: 'ok', facts: { fromVersion: 'v1' } }])
    await write([ok])
    expect(await readJournal(path)).toMatchObject({ step: 'E3', lastSeq: 4, facts: { fromVersion: 'v1' } })
  })

  it('that is not there or is empty tells nothing', async () => {
    expect(await readJournal(path)).toBeUndefined()
    await writeFile(path, '')
    expect(await readJournal(path)).toMatchObject({ step: 'E0', lastSeq: 0 })
  })

  /** F03 */
  it('that is cut anywhere tells a beginning of its story, and goes on from there', {
    timeout: 60_000,
  }, async () => {
    await write([accepted, ok, ok])
    const whole = await readFile(path)
    const ends = [0, 1, 16, 17, whole.length - 1, whole.length]
    const lengths = [...ends, ...Array.from({ length: 30 }, (_, at) => Math.floor((at / 30) * whole.length))]
    for (const length of lengths) {
      await writeFile(path, whole.subarray(0, length))
      const lines = whole.subarray(0, length).toString().split('\n').length - 1
      await write([lines === 0 ? accepted : ok])
      expect((await readJournal(path))?.lastSeq).toBe(lines + 1)
    }
  })

  it('whose end is zeros after a power cut is read up to them', async () => {
    await write([accepted, ok])
    await writeFile(path, Buffer.concat([await readFile(path), Buffer.alloc(4096)]))
    await write([ok])
    expect((await readJournal(path))?.lastSeq).toBe(3)
  })

  /** F04 */
  it('of which any one byte is another is not believed', async () => {
    await write([accepted, ok, ok])
    const whole = await readFile(path)
    for (let at = 0; at < whole.length - 1; at++) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 1
      await writeFile(path, damaged)
      await expect(readJournal(path), `byte ${at}`).rejects.toBeInstanceOf(UnreadableError)
    }
  })

  it('of which a record was taken out or doubled is not believed', async () => {
    await write([accepted, ok, ok])
    const [first = '', second = '', third = ''] = (await readFile(path, 'utf8')).split('\n')
    for (const lines of [
      [first, third],
      [first, second, second, third],
      [second, third],
    ]) {
      await writeFile(path, `${lines.join('\n')}\n`)
      await expect(readJournal(path)).rejects.toBeInstanceOf(UnreadableError)
    }
  })
})
