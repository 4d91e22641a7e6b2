import type { Answer, Prepare, Progress, Result, TaskRef } from '@upgrade-hub/protocol'

/** The rest states of an attempt as the session sees them. */
export type AttemptPhase = 'preparing' | 'prepared' | 'proceeding' | 'ended'

/** One attempt as it is on disk at this moment. */
export interface AttemptView {
  /** HistoryID, `{task}.{attempt}`: the name of its folder and the argument of `edgeadm attempt run --id`. */
  readonly id: string
  readonly upgradeID: string
  readonly task: string
  readonly taskUID: string
  readonly nodeUID: string
  readonly attempt: number
  /** E0 to E12, `prepared`, or R5 to R10 while it rolls back. */
  readonly step: string
  readonly phase: AttemptPhase
  /** The word for the newest intent, ready to send; it changes from `accepted` to the last word. */
  readonly answer?: Answer
  /** What ended it, ready to send. */
  readonly result?: Result
  /** Number of the newest journal record. */
  readonly lastSeq: number
  /** The newest report of each action, ready to send, oldest first. */
  readonly actions: readonly Progress[]
  /** There is work for an updater: start one with `launchUpdater` unless `isUpdaterAlive`. */
  readonly needsUpdater: boolean
  /** The agent may have been stopped: from here on `abort` and `cancel` have no effect. */
  readonly pastStop: boolean
}

/** What the hub permits with `proceed`. */
export interface Permit {
  readonly epoch: number
  readonly nodeUID: string
  readonly intentSeq: number
  /** Counted from this call on CLOCK_MONOTONIC. */
  readonly validForSeconds: number
}

/**
 * The intents and attempts of this node. Everything it answers is on disk, fsynced, before it answers; the same intent
 * gets the same answer for ever. One edgehub writes; updaters write only their own journal.
 */
export interface AttemptStore {
  /** Stores the intent `prepare`: `accepted`, the last word if there is one, `refused` with a code, or `stale`. */
  accept(prepare: Prepare): Promise<Answer>
  /** Stores the permission of `proceed`; refuses a lower epoch, another node UID and what is not prepared. */
  permit(id: string, permit: Permit): Promise<Answer>
  /** `done` before the agent was stopped, `tooLate` after it, `tombstoned` when this attempt was never seen. */
  cancel(ref: TaskRef): Promise<Answer>
  /** The operator's yes to a step E4c that waits; false when nothing waits for it. */
  confirm(id: string): Promise<boolean>
  /** Every attempt that is open or whose outcome is still kept, oldest first. */
  attempts(): Promise<readonly AttemptView[]>
  attempt(id: string): Promise<AttemptView | undefined>
  /** True while a live process owns the attempt. */
  isUpdaterAlive(id: string): Promise<boolean>
  /** Percent and bytes of a running download; undefined when there is none. */
  download(id: string): Promise<{ percent: number; bytes: number } | undefined>
  /** Removes what has waited for a `proceed` longer than 7 days, and outcomes beyond the cap. */
  prune(): Promise<void>
}

/** A result that waits for its final answer. */
export interface SpooledResult {
  readonly id: string
  readonly result: Result
}

/** Results that the hub has not acknowledged, on disk, oldest first, capped. */
export interface Spool {
  /** Durable on return. The same attempt again replaces its older record. */
  put(result: Result): Promise<void>
  /** Poison records are set aside on the way. */
  oldest(): Promise<SpooledResult | undefined>
  /** Only after a final answer. */
  remove(id: string): Promise<void>
  /** Moves it to the capped `rejected/`. */
  reject(id: string, why: string): Promise<void>
  size(): Promise<number>
}

/** What became of a posted result: `stored` and `rejected` are final, `retry` is not. */
export type PostOutcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'rejected'; readonly status: number; readonly why: string }
  | { readonly kind: 'retry'; readonly why: string; readonly afterMs?: number }
