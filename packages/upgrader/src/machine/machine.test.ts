import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { apply, fold, recordOf } from './fold.ts'
import { type AttemptEvent, type AttemptState, type JournalRecord, NOTHING } from './state.ts'
import { isPastStop, MAX_BACK_FAILURES, MAX_RESUMES, MAX_STARTS, RULES, STEPS, type Step } from './steps.ts'
import { transition } from './transition.ts'

const FORWARD = [
  'E0',
  'E1',
  'E2',
  'E3',
  'E4',
  'prepared',
  'E5',
  'E6',
  'E7',
  'E8',
  'E9',
  'E10',
  'E11',
  'E12',
  'ended',
]
const BACK = ['R5', 'R6', 'R7', 'R8', 'R9', 'E11', 'E12', 'ended']
const ok: AttemptEvent = { type: 'ok' }
const accepted = { type: 'accepted', intentSeq: 1, confirm: false } as const
const proceed: AttemptEvent = { type: 'proceed', intentSeq: 2 }
const failed: AttemptEvent = { type: 'failed', code: 'HealthFailed', reason: 'it died' }

function after(state: AttemptState, event: AttemptEvent, boot = 'a', mono = 0): AttemptState {
  return apply(state, recordOf(state, event, { at: '2026-01-01T00:00:00Z', boot, mono }))
}

/** The state at a step, reached by the shortest way. */
function at(step: Step, confirm = false): AttemptState {
  let state = after(NOTHING, { ...accepted, confirm })
  const target = step.startsWith('R') ? 'E9' : step
  for (let i = 0; state.step !== target && i < 30; i++) {
    state = after(state, state.step === 'prepared' ? proceed : ok)
  }
  if (step !== target) state = after(state, failed)
  if (step === 'R10') return [failed, failed, failed].reduce((was, event) => after(was, event), state)
  for (let i = 0; state.step !== step && i < 10; i++) state = after(state, ok)
  return state
}

describe('the way of an attempt', () => {
  it('goes through every step in order when all is well', () => {
    const seen = ['E0']
    let state = after(NOTHING, accepted)
    while (state.step !== 'ended') {
      state = after(state, state.step === 'prepared' ? proceed : ok)
      seen.push(state.step)
    }
    expect(seen).toEqual(FORWARD)
    expect(state.ending).toMatchObject({ outcome: 'Succeeded', code: 'Upgraded' })
  })

  it('waits for a confirmation after staging when one is asked for', () => {
    expect(after(at('E4', true), ok).step).toBe('E4c')
    expect(after(after(at('E4', true), ok), ok).step).toBe('prepared')
  })

  it('ends at once, and well, when the version already runs', () => {
    const state = after(at('E2'), { type: 'ok', facts: { already: true } })
    expect(state).toMatchObject({ step: 'E11', ending: { outcome: 'Succeeded', code: 'AlreadyAtVersion' } })
  })

  it('goes back over every step of the way back, and keeps why', () => {
    const seen: string[] = []
    let state = after(at('E9'), failed)
    while (state.step !== 'ended') {
      seen.push(state.step)
      state = after(state, ok)
    }
    expect([...seen, 'ended']).toEqual(BACK)
    expect(state.ending).toMatchObject({ outcome: 'RolledBack', code: 'HealthFailed', reason: 'it died' })
  })
})

/** Where a failure of each step leads, and as what it ends if that is the end. */
const FAILURES: Readonly<Partial<Record<Step, [Step, string?]>>> = {
  E0: ['E11', 'FailedBeforeChange'],
  E1: ['E11', 'FailedBeforeChange'],
  E2: ['E11', 'FailedBeforeChange'],
  E3: ['E11', 'FailedBeforeChange'],
  E4: ['E11', 'FailedBeforeChange'],
  E5: ['E11', 'FailedBeforeChange'],
  E6: ['R5'],
  E7: ['R5'],
  E8: ['R5'],
  E9: ['R5'],
  E10: ['R5'],
  R5: ['R5'],
  R6: ['R5'],
  R7: ['R5'],
  R8: ['R5'],
  R9: ['R5'],
  R10: ['E11', 'RollbackFailed'],
  E11: ['E12', 'Succeeded'],
  E12: ['ended', 'Succeeded'],
}

/** Where the next updater goes on after a death in each step: in the same boot, and after a reboot. */
const RESUMES: Readonly<Partial<Record<Step, [Step, Step]>>> = {
  E0: ['E0', 'E0'],
  E1: ['E1', 'E1'],
  E2: ['E1', 'E1'],
  E3: ['E1', 'E1'],
  E4: ['E1', 'E1'],
  E5: ['E5', 'prepared'],
  E6: ['E6', 'R5'],
  E7: ['E7', 'E7'],
  E8: ['E8', 'E8'],
  E9: ['E9', 'E8'],
  E10: ['E10', 'E8'],
  R5: ['R5', 'R5'],
  R6: ['R6', 'R6'],
  R7: ['R7', 'R6'],
  R8: ['R8', 'R6'],
  R9: ['R9', 'R8'],
  E11: ['E11', 'E11'],
  E12: ['E12', 'E12'],
}

describe('the table step × event', () => {
  it.each(Object.entries(FAILURES))('a failure in %s leads to %j', (step, [next, outcome]) => {
    const state = after(at(step as Step), failed)
    expect(state.step).toBe(next)
    expect(state.ending?.outcome).toBe(outcome)
  })

  it.each(Object.entries(RESUMES))('a death in %s is carried on in %j', (step, [sameBoot, otherBoot]) => {
    expect(after(at(step as Step), { type: 'resumed' }, 'a').step).toBe(sameBoot)
    expect(after(at(step as Step), { type: 'resumed' }, 'b').step).toBe(otherBoot)
  })

  it('has a row for every step where work is done', () => {
    const working = STEPS.filter((step) => step !== 'prepared' && step !== 'ended')
    expect(working.filter((step) => !(step in FAILURES))).toEqual(['E4c'])
    expect(working.filter((step) => !(step in RESUMES))).toEqual(['E4c', 'R10'])
  })
})

describe('a permission', () => {
  it('is needed again after a reboot in E5, and the refusal says so', () => {
    const state = after(at('E5'), { type: 'resumed' }, 'b')
    expect(state).toMatchObject({ step: 'prepared', refusal: { code: 'PermissionExpired' } })
  })

  it('that is refused leaves the attempt prepared, and a new one goes on from there', () => {
    const refused = after(at('E5'), { type: 'refused', code: 'Busy', reason: 'another' })
    expect(refused).toMatchObject({ step: 'prepared', refusal: { code: 'Busy' } })
    const again = after(refused, { type: 'proceed', intentSeq: 3 })
    expect(again).toMatchObject({ step: 'E5', proceedSeq: 3 })
    expect(again.refusal).toBeUndefined()
  })
})

describe('a cancel', () => {
  it.each(['E1', 'E3', 'E4', 'prepared', 'E5'] as const)(
    'in %s ends the attempt with nothing touched',
    (step) => {
      expect(after(at(step), { type: 'cancelled' })).toMatchObject({
        step: 'E11',
        ending: { outcome: 'Cancelled' },
      })
    },
  )

  it.each(['E6', 'E7', 'E9', 'R7', 'E11'] as const)('in %s changes nothing', (step) => {
    expect(after(at(step), { type: 'cancelled' }).step).toBe(step)
  })
})

describe('a way back that fails', () => {
  it.each([
    ['R5', 'R10'],
    ['R6', 'R10'],
    ['R7', 'R10'],
    ['R8', 'E11'],
    ['R9', 'E11'],
  ] as const)('in %s is begun anew twice, then it leads to %s', (step, last) => {
    let state = at(step)
    for (let failures = 0; failures < MAX_BACK_FAILURES; failures++) {
      state = after(state, failed)
      expect(state.step).toBe('R5')
      while (state.step !== step) state = after(state, ok)
    }
    expect(after(state, failed).step).toBe(last)
  })
})

/** F25 */
describe('a boot loop', () => {
  it('ends after three starts of the new agent', () => {
    let state = at('E8')
    const boots: string[] = []
    for (let boot = 0; state.step === 'E8' && boot < 10; boot++) {
      boots.push(`boot ${boot}`)
      state = after(state, { type: 'resumed' }, `boot ${boot}`)
    }
    expect(state.starts).toBe(MAX_STARTS)
    expect(boots).toHaveLength(MAX_STARTS)
    expect(state).toMatchObject({ step: 'R5', failure: { code: 'HealthFailed' } })
  })

  it('of the updater itself ends the step after ten deaths', () => {
    let state = at('E9')
    for (let i = 0; i < MAX_RESUMES; i++) state = after(state, { type: 'resumed' })
    expect(state.step).toBe('E9')
    expect(after(state, { type: 'resumed' }).step).toBe('R5')
  })

  /** Deaths before the way back ends for good: what stands there is started then, or its end is told. */
  it.each([
    ['R5', 'R10'],
    ['R6', 'R10'],
    ['R7', 'R10'],
    ['R8', 'E11'],
    ['R9', 'E11'],
  ] as const)('of the updater in %s begins the way back anew twice, then leads to %s', (step, last) => {
    let state = at(step)
    let deaths = 0
    while (state.step !== last && deaths < 100) {
      state = after(state, { type: 'resumed' })
      deaths++
      while (state.step !== step && state.step !== last) state = after(state, ok)
    }
    expect([state.step, deaths]).toEqual([last, (MAX_BACK_FAILURES + 1) * (MAX_RESUMES + 1)])
  })
})

describe('time', () => {
  it('is counted for the stage within one boot and never across boots', () => {
    let state = after(NOTHING, accepted, 'a', 1_000)
    state = after(state, ok, 'a', 3_000)
    state = after(state, { type: 'resumed' }, 'b', 50)
    state = after(state, ok, 'b', 550)
    expect(state.spentMs).toEqual({ check: 2_500 })
  })
})

const anyEvent: fc.Arbitrary<AttemptEvent> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(ok) },
  fc.constant(failed),
  fc.constant<AttemptEvent>({ type: 'refused', code: 'Busy', reason: '' }),
  fc.constant<AttemptEvent>({ type: 'cancelled' }),
  { weight: 2, arbitrary: fc.constant<AttemptEvent>({ type: 'resumed' }) },
)

describe('whatever happens', () => {
  const history = fc.array(fc.tuple(anyEvent, fc.constantFrom('a', 'b', 'c')), { maxLength: 80 })

  function play(events: readonly [AttemptEvent, string][]): JournalRecord[] {
    const records: JournalRecord[] = []
    const add = (event: AttemptEvent, boot: string) => {
      const record = recordOf(fold(records), event, {
        at: '2026-01-01T00:00:00Z',
        boot,
        mono: records.length,
      })
      records.push(record)
    }
    add(accepted, 'a')
    for (const [event, boot] of events) {
      const { step } = fold(records)
      if (step === 'ended') break
      if (step === 'prepared') add(proceed, boot)
      else if (event.type !== 'refused' || step === 'E5') add(event, boot)
    }
    return records
  }

  it('an attempt that touched the agent is committed, rolled back, or says that it could not', () => {
    fc.assert(
      fc.property(history, (events) => {
        const records = play(events)
        const state = fold(records)
        if (!state.ending) return
        const touched = records.some(({ step }) => isPastStop(step))
        const untouched = ['Cancelled', 'FailedBeforeChange', 'RefusedBeforeChange']
        expect(untouched.includes(state.ending.outcome)).toBe(!touched)
        const committed = records.some(({ step }) => step === 'E10')
        expect(state.ending.outcome !== 'Succeeded' || committed).toBe(true)
      }),
    )
  })

  it('the new agent is started three times at most and what has ended stays ended', () => {
    fc.assert(
      fc.property(history, (events) => {
        const states = play(events).map((_, index, all) => fold(all.slice(0, index + 1)))
        expect(Math.max(...states.map(({ starts }) => starts))).toBeLessThanOrEqual(MAX_STARTS)
        const endings = states.map(({ ending }) => ending?.outcome).filter((outcome) => outcome !== undefined)
        expect(new Set(endings).size).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('success repeated always comes to an end', () => {
    fc.assert(
      fc.property(history, (events) => {
        let state = fold(play(events))
        for (let i = 0; i < 40 && state.step !== 'ended'; i++) {
          state = after(state, state.step === 'prepared' ? { ...proceed, intentSeq: 9 } : ok)
        }
        expect(state.step).toBe('ended')
      }),
    )
  })

  it('a record that does not follow from the rules is not believed', () => {
    const state = at('E7')
    const record = recordOf(state, ok, { at: '', boot: 'a', mono: 0 })
    expect(() => apply(state, { ...record, step: 'E11' })).toThrow('leads to E11')
    expect(() => apply(state, { ...record, seq: 99 })).toThrow('record 99')
    expect(transition(state, ok, false).step).toBe(RULES.E7.next)
  })
})
