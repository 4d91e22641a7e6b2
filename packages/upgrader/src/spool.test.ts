import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeClock } from '@upgrade-hub/core/testing'
import type { Result } from '@upgrade-hub/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EdgeConfig } from './config.ts'
import { openSpool } from './spool.ts'
import type { Spool } from './types.ts'

let root: string
let spool: Spool
let clock: FakeClock

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'upgrade-hub-spool-'))
  clock = new FakeClock()
  spool = openSpool({ paths: { state: root } } as EdgeConfig, clock)
})

afterEach(() => rm(root, { recursive: true, force: true }))

function result(task: string, reason = ''): Result {
  const names = { UpgradeID: 'job', HistoryID: `${task}.1`, NodeName: 'edge-1' }
  return { ...names, FromVersion: 'v1.0.0', ToVersion: 'v1.1.0', Status: '', Reason: reason }
}

/** F26 */
describe('the spool', () => {
  it('gives the oldest first and keeps each until it is removed, also when opened again', async () => {
    await spool.put(result('b'))
    clock.jumpWall(1)
    await spool.put(result('a'))
    expect(await spool.oldest()).toMatchObject({ id: 'b.1' })
    expect(await spool.oldest()).toMatchObject({ id: 'b.1' })
    await spool.remove('b.1')
    expect(await spool.oldest()).toMatchObject({ id: 'a.1' })
    expect(await spool.size()).toBe(1)
  })

  it('has one record an attempt, the newest', async () => {
    await spool.put(result('a', 'first'))
    await spool.put(result('a', 'second'))
    expect(await spool.size()).toBe(1)
    expect((await spool.oldest())?.result.Reason).toBe('second')
  })

  it('sets poison aside and goes on with what is good', async () => {
    await spool.put(result('good'))
    await writeFile(join(root, 'spool/0000000000001-bad.1.json'), '{"not":"a result"}')
    await writeFile(join(root, 'spool/0000000000002-torn.1.json'), '{"UpgradeID":')
    expect(await spool.oldest()).toMatchObject({ id: 'good.1' })
    expect(
      (await readdir(join(root, 'spool/rejected'))).filter((name) => name.endsWith('.json')),
    ).toHaveLength(2)
  })

  it('moves what was refused for good out of the way, with the reason', async () => {
    await spool.put(result('a'))
    await spool.reject('a.1', '403 not yours')
    expect(await spool.oldest()).toBeUndefined()
    expect(await readdir(join(root, 'spool/rejected'))).toHaveLength(2)
  })

  it('does not take what is not a result', async () => {
    await expect(spool.put({ ...result('a'), HistoryID: '../../x.1' })).rejects.toThrow('not a name')
  })

  it('that was never used is empty', async () => {
    expect(await spool.oldest()).toBeUndefined()
    expect(await spool.size()).toBe(0)
  })
})
