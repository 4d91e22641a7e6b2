import type { Clock } from '@upgrade-hub/core'
import type { EdgeCode, Timeouts } from '@upgrade-hub/protocol'
import { CancelledError, StepError } from '../errors.ts'
import type { AttemptState } from '../machine/state.ts'
import { RULES, type Stage } from '../machine/steps.ts'
import type { Inbox } from '../store/inbox.ts'
import { isPreparing } from '../store/view.ts'

const GATE_POLL_MS = 250
const MIN_ROLLBACK_SECONDS = 120

interface StageLimit {
  readonly seconds: (timeouts: Timeouts) => number
  readonly code: EdgeCode
}

/** A limit of 0 means this node's own. */
const LIMITS: Readonly<Partial<Record<Stage, StageLimit>>> = {
  check: { seconds: ({ checkSeconds }) => checkSeconds || 60, code: 'CheckTimeout' },
  download: { seconds: ({ downloadSeconds }) => downloadSeconds || 300, code: 'DownloadTimeout' },
  confirm: { seconds: ({ confirmSeconds }) => confirmSeconds || 86_400, code: 'ConfirmTimeout' },
  upgrade: { seconds: ({ upgradeSeconds }) => upgradeSeconds || 300, code: 'UpgradeTimeout' },
  // A hub that gives the way back too little time would only make it fail.
  rollback: {
    seconds: ({ rollbackSeconds }) => Math.max(MIN_ROLLBACK_SECONDS, rollbackSeconds || 300),
    code: 'RollbackFailed',
  },
}

/** What is left of a step's stage, in ms, with what earlier updaters have used; undefined when it has no limit. */
function stageLeftMs(state: AttemptState, timeouts: Timeouts): number | undefined {
  const { stage } = RULES[state.step]
  const limit = LIMITS[stage]
  return limit && limit.seconds(timeouts) * 1000 - (state.spentMs[stage] ?? 0)
}

/**
 * The signal of one step: it aborts when the stage's time is over and, while the agent runs untouched, when a cancel has
 * passed the gate. `end` stops watching.
 */
export function stageSignal(
  state: AttemptState,
  timeouts: Timeouts,
  { clock, inbox }: { readonly clock: Clock; readonly inbox: Inbox },
): { readonly signal: AbortSignal; end(): void } {
  const abort = new AbortController()
  const watching = new AbortController()
  const { stage } = RULES[state.step]
  const left = stageLeftMs(state, timeouts)
  const code = LIMITS[stage]?.code ?? 'UpgradeTimeout'
  const over = () => abort.abort(new StepError(code, `the time for ${stage} is over in ${state.step}`))
  const timer = left === undefined ? undefined : clock.after(Math.max(0, left), over)
  if (isPreparing(state)) void followGate(inbox, clock, { abort, watching: watching.signal })
  return {
    signal: abort.signal,
    end: () => {
      timer?.cancel()
      watching.abort()
    },
  }
}

async function followGate(
  inbox: Inbox,
  clock: Clock,
  { abort, watching }: { abort: AbortController; watching: AbortSignal },
): Promise<void> {
  while (!watching.aborted) {
    const gate = await inbox.gate().catch(() => undefined)
    if (gate?.by === 'cancel') return abort.abort(new CancelledError())
    await clock.sleep(GATE_POLL_MS, watching).catch(() => undefined)
  }
}
