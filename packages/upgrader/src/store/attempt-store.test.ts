import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FakeClock } from '@upgrade-hub/core/testing'
import type { Answer, Prepare } from '@upgrade-hub/protocol'
import { validate } from '@upgrade-hub/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EdgeConfig, parseEdgeConfig } from '../config.ts'
import { bootId, monotonicMs } from '../host/boot.ts'
import { recordOf } from '../machine/fold.ts'
import { Journal } from '../machine/journal.ts'
import type { AttemptEvent } from '../machine/state.ts'
import type { Step } from '../machine/steps.ts'
import { openSpool } from '../spool.ts'
import { prepareFor } from '../testing/node-fixture.ts'
import type { AttemptStore } from '../types.ts'
import { openAttemptStore } from './attempt-store.ts'
import { Inbox } from './inbox.ts'
import { attemptPaths, epochFloor } from './paths.ts'

const DAY_MS = 86_400_000
const ID = 'job-1.1'
const REF = { Task: 'job-1', TaskUID: 'a1b2c3', Attempt: 1 }
const permit = { epoch: 5, nodeUID: 'node-uid', intentSeq: 2, validForSeconds: 60 }

let root: string
let config: EdgeConfig
let store: AttemptStore

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'upgrade-hub-store-'))
  config = parseEdgeConfig(
    JSON.stringify({
      nodeName: 'edge-1',
      hub: { websocket: 'wss://h', https: 'https://h' },
      certificates: { ca: '/a', cert: '/b', key: '/c' },
      components: [
        { name: 'edgecore', binary: '/x/edgecore', service: { manager: 'systemd', unit: 'e.service' } },
      ],
      paths: { state: join(root, 'state'), etc: join(root, 'etc'), run: join(root, 'run') },
    }),
  )
  store = openAttemptStore(config, new FakeClock())
})

afterEach(() => rm(root, { recursive: true, force: true }))

function accept(change: Partial<Prepare> = {}): Promise<Answer> {
  return store.accept(prepareFor({ Image: 'host/team/edge', ...change }))
}

/** Writes the journal that an updater would have written up to a step. */
async function updaterWentTo(
  step: Step,
  last?: AttemptEvent,
  when: { boot: string; mono: number } = { boot: 'a', mono: 0 },
): Promise<void> {
  const journal = await Journal.open(attemptPaths(config, ID).journal)
  const add = (event: AttemptEvent) =>
    journal.append(recordOf(journal.state, event, { at: '2026-01-01T00:00:00Z', ...when }))
  if (journal.state.lastSeq === 0) await add({ type: 'accepted', intentSeq: 1, confirm: false })
  while (journal.state.step !== step) {
    await add(journal.state.step === 'prepared' ? { type: 'proceed', intentSeq: 2 } : { type: 'ok' })
  }
  if (last) await add(last)
  await journal.close()
}

/** F10, F11 */
describe('the intent prepare', () => {
  it.each([
    [{ exec: { name: 'unheard-of' } }, 'this node has no probe unheard-of'],
    [{}, 'a probe is one of exec, httpGet and tcpSocket'],
  ])('with the probe %j is refused before anything is done', async (probe, reason) => {
    const answer = await accept({ Health: { minReadySeconds: 0, probes: [probe] } })
    expect(answer).toMatchObject({ Value: 'refused', Code: 'PolicyRefused', Reason: reason })
    expect(await store.attempts()).toEqual([])
  })

  it('is on disk when it is accepted, and a second store gives the same answer', async () => {
    const first = await accept()
    expect(first).toMatchObject({ ...REF, IntentSeq: 1, Value: 'accepted' })
    expect(await openAttemptStore(config).accept(prepareFor({ Image: 'host/team/edge' }))).toEqual(first)
    expect(await store.attempts()).toMatchObject([{ id: ID, phase: 'preparing', needsUpdater: true }])
  })

  it('is answered prepared when the updater is there, on every repeat', async () => {
    await accept()
    await updaterWentTo('prepared')
    for (let i = 0; i < 3; i++) expect((await accept()).Value).toBe('prepared')
  })

  it('with a lower number than one that was seen is stale', async () => {
    await accept({ IntentSeq: 4 })
    expect((await accept({ IntentSeq: 3 })).Value).toBe('stale')
  })

  it('with a higher number is begun anew', async () => {
    await accept()
    await updaterWentTo('prepared')
    expect((await accept({ IntentSeq: 7 })).Value).toBe('accepted')
    expect(await store.attempt(ID)).toMatchObject({ needsUpdater: true })
  })

  it.each<[string, Partial<Prepare>, string]>([
    ['a tool this node does not allow', { UpgradeTool: 'exec' }, 'UnsupportedTool'],
    ['a component this node does not have', { Component: 'k0s' }, 'UnknownComponent'],
    ['a task UID that climbs', { TaskUID: '../x' }, 'BadRequest'],
    ['a history that is not its attempt', { HistoryID: 'job-1.2' }, 'BadRequest'],
    ['no version', { Version: 'latest' }, 'BadRequest'],
    ['an image with a command in it', { Image: 'host/team/edge;id' }, 'BadRequest'],
    ['a digest that is none', { ImageDigest: 'sha256:x' }, 'BadRequest'],
  ])('with %s is refused and leaves nothing', async (_, change, code) => {
    expect(await accept(change)).toMatchObject({ Value: 'refused', Code: code })
    expect(await readdir(root)).toEqual([])
  })

  it('of another task with the same name is refused', async () => {
    await accept()
    expect(await accept({ TaskUID: 'other', IntentSeq: 9 })).toMatchObject({
      Value: 'refused',
      Code: 'BadRequest',
    })
  })

  it('for an attempt that is over gives its result once more', async () => {
    await accept()
    await updaterWentTo('ended')
    expect(await accept({ IntentSeq: 9 })).toMatchObject({ Value: 'refused', Code: 'Upgraded' })
    expect((await openSpool(config).oldest())?.result.Outcome).toBe('Succeeded')
  })
})

describe('the permission', () => {
  it('of a prepared attempt is followed', async () => {
    await accept()
    await updaterWentTo('prepared')
    expect((await store.permit(ID, permit)).Value).toBe('accepted')
    expect(await store.attempt(ID)).toMatchObject({
      phase: 'proceeding',
      needsUpdater: true,
      answer: { IntentSeq: 2 },
    })
  })

  it('of something that is not prepared is refused', async () => {
    expect(await store.permit(ID, permit)).toMatchObject({ Value: 'refused', Code: 'PreparedStale' })
    await accept()
    expect(await store.permit(ID, permit)).toMatchObject({ Value: 'refused', Code: 'PreparedStale' })
  })

  it('for another Node of the same name is refused', async () => {
    await accept()
    await updaterWentTo('prepared')
    expect(await store.permit(ID, { ...permit, nodeUID: 'new' })).toMatchObject({ Code: 'NodeReplaced' })
  })

  it('of a lower epoch is refused, also by a store that was opened after a crash', async () => {
    await accept()
    await updaterWentTo('prepared')
    await store.permit(ID, permit)
    const later = openAttemptStore(config)
    expect(await later.permit(ID, { ...permit, epoch: 4, intentSeq: 3 })).toMatchObject({
      Code: 'StaleEpoch',
    })
    expect((await later.permit(ID, { ...permit, epoch: 6, intentSeq: 4 })).Value).toBe('accepted')
  })

  it('of the same epoch for another attempt is refused', async () => {
    await accept()
    await updaterWentTo('prepared')
    await writeFile(
      epochFloor(config),
      JSON.stringify({ v: 1, nodeUID: 'node-uid', epoch: 5, attempt: 'other.1' }),
    )
    expect(await store.permit(ID, permit)).toMatchObject({ Code: 'StaleEpoch' })
  })

  /** F04 */
  it.each(['', '{"v":1', '{"v":2}', 'x'.repeat(5_000_000)])(
    'is judged by the permissions on disk when the floor is damaged',
    async (text) => {
      await accept()
      await updaterWentTo('prepared')
      await store.permit(ID, permit)
      await writeFile(epochFloor(config), text)
      expect(await store.permit(ID, { ...permit, intentSeq: 3, epoch: 4 })).toMatchObject({
        Code: 'StaleEpoch',
      })
      expect(await store.permit(ID, { ...permit, intentSeq: 3, epoch: 6 })).toMatchObject({
        Value: 'accepted',
      })
    },
  )

  it('that comes twice is one, and the answer follows the attempt to its end', async () => {
    await accept()
    await updaterWentTo('prepared')
    await store.permit(ID, permit)
    await updaterWentTo('E9')
    expect((await store.permit(ID, permit)).Value).toBe('accepted')
    await updaterWentTo('ended')
    expect(await store.permit(ID, permit)).toMatchObject({ Value: 'done', Code: 'Upgraded' })
  })

  it('has a result also when the log that travels with it cannot be read', async () => {
    await accept()
    await updaterWentTo('ended')
    await mkdir(attemptPaths(config, ID).log)
    expect((await store.attempts()).map(({ result }) => result?.Outcome)).toEqual(['Succeeded'])
  })
})

describe('a cancel', () => {
  const cancel = (IntentSeq: number) => store.cancel({ ...REF, IntentSeq })

  it('of what was never seen makes sure that it never starts', async () => {
    expect((await cancel(2)).Value).toBe('tombstoned')
    expect(await accept({ IntentSeq: 3 })).toMatchObject({ Value: 'refused', Code: 'Cancelled' })
    expect((await cancel(2)).Value).toBe('tombstoned')
  })

  it('wins as long as nobody has passed the gate, and gives an updater something to do', async () => {
    await accept()
    await updaterWentTo('prepared')
    expect((await cancel(2)).Value).toBe('done')
    expect(await store.attempt(ID)).toMatchObject({
      needsUpdater: true,
      answer: { Value: 'done', IntentSeq: 2 },
    })
    expect(await store.permit(ID, { ...permit, intentSeq: 3 })).toMatchObject({ Code: 'Cancelled' })
  })

  it('is too late once the updater is through the gate', async () => {
    await accept()
    await new Inbox(attemptPaths(config, ID)).passGate('stop')
    expect((await cancel(3)).Value).toBe('tooLate')
    expect(await store.attempt(ID)).toMatchObject({ pastStop: true })
  })

  it.each([
    ['Succeeded', undefined, 'tooLate'],
    ['FailedBeforeChange', { type: 'failed', code: 'PullFailed', reason: '' } as const, 'done'],
  ])('of an attempt that ended %s says so', async (_, event, value) => {
    await accept()
    if (event) await updaterWentTo('E3', event)
    await updaterWentTo('ended')
    expect((await cancel(5)).Value).toBe(value)
  })
})

describe('what the session sends', () => {
  it('fits the wire at every step', async () => {
    await accept()
    for (const step of ['E0', 'E3', 'prepared', 'E5', 'E7', 'E9', 'E11', 'ended'] as const) {
      await updaterWentTo(step)
      const view = await store.attempt(ID)
      validate('Answer', view?.answer)
      for (const action of view?.actions ?? []) validate('Progress', action)
      if (view?.result) validate('Result', view.result)
      expect(view?.lastSeq).toBeGreaterThan(0)
    }
  })

  it('names each action once, with its end', async () => {
    await accept()
    await updaterWentTo('E9', { type: 'failed', code: 'HealthFailed', reason: 'it died' })
    const view = await store.attempt(ID)
    expect(view?.actions.map(({ action, succ, Final }) => [action, succ, Final])).toEqual([
      ['Check', true, true],
      ['BackUp', true, true],
      ['Upgrade', false, true],
      ['RollBack', true, false],
    ])
  })
})

describe('pruning', () => {
  it('keeps 64 attempts that are over', async () => {
    for (let i = 1; i <= 70; i++) await store.cancel({ ...REF, Attempt: i, IntentSeq: 1 })
    await store.prune()
    expect(await readdir(join(root, 'state/attempts'))).toHaveLength(64)
  })

  it('gives up what has waited for seven days of this boot', async () => {
    await accept()
    await updaterWentTo('prepared', undefined, { boot: await bootId(), mono: monotonicMs() - 8 * DAY_MS })
    await store.prune()
    expect(await store.attempt(ID)).toMatchObject({ needsUpdater: true })
    expect(await new Inbox(attemptPaths(config, ID)).gate()).toMatchObject({ by: 'cancel' })
  })

  /** F06 */
  it.each(['1970-01-01T00:00:00Z', '2036-01-01T00:00:00Z'])(
    'gives up nothing because the wall clock says %s',
    async (at) => {
      await accept()
      await updaterWentTo('prepared', undefined, { boot: await bootId(), mono: monotonicMs() })
      await openAttemptStore(config, new FakeClock(Date.parse(at))).prune()
      expect(await store.attempt(ID)).toMatchObject({ needsUpdater: false, phase: 'prepared' })
    },
  )

  it('forgets what was never permitted before what was', async () => {
    await accept()
    await updaterWentTo('prepared')
    await store.permit(ID, permit)
    await updaterWentTo('ended')
    await utimes(attemptPaths(config, ID).folder, 0, 0)
    for (let i = 2; i <= 70; i++) await store.cancel({ ...REF, Attempt: i, IntentSeq: 1 })
    await store.prune()
    expect(await store.attempt(ID)).toMatchObject({ phase: 'ended' })
  })
})
