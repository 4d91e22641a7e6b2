import type { Action, EdgeCode, Outcome, Platform, Prepare } from '@upgrade-hub/protocol'
import type { Stage, Step } from './steps.ts'

/** Who may do what with a file. */
export interface Attributes {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

export type FileKind = 'program' | 'config' | 'db'

/** A file that will be put in place of another. */
export interface StagedFile {
  /** A program when absent. */
  readonly kind?: FileKind
  readonly target: string
  readonly staged: string
  readonly sha256: string
  readonly size: number
  /** Where the target does not exist yet. */
  readonly attributes?: Attributes
}

/** A file as it was before the upgrade, and its copy; without a copy it did not exist. */
export interface BackupFile extends Attributes {
  readonly kind: FileKind
  readonly target: string
  readonly copy?: string
  readonly sha256: string
  readonly size: number
}

/** What the steps found out and later steps need. */
export interface Facts {
  readonly fromVersion?: string
  readonly platform?: Platform
  /** The wanted version already runs and is healthy. */
  readonly already?: boolean
  readonly indexDigest?: string
  readonly manifestDigest?: string
  readonly staged?: readonly StagedFile[]
  readonly backup?: readonly BackupFile[]
  /** What the agent said at the last probe. */
  readonly runningVersion?: string
  /** Which start of the agent was proven. */
  readonly identity?: string
}

/** What the hub or a person wants. */
export interface Intent {
  readonly prepare: Prepare
  /** Begun by hand on this node: there is no hub that waits for a result. */
  readonly local: boolean
  /** Nobody can read any more what was wanted: the agent is seen to, and that is said. */
  readonly isLost?: true
}

/** What happens to an attempt. Each is one record of its journal. */
export type AttemptEvent =
  /** The intent `prepare` with this number is begun, the first time or anew. */
  | {
      readonly type: 'accepted'
      readonly intentSeq: number
      readonly confirm: boolean
      readonly intent?: Intent
    }
  | { readonly type: 'proceed'; readonly intentSeq: number }
  | { readonly type: 'ok'; readonly facts?: Facts }
  | { readonly type: 'failed'; readonly code: EdgeCode; readonly reason: string }
  /** Nothing was changed and the hub may ask again. */
  | { readonly type: 'refused'; readonly code: EdgeCode; readonly reason: string }
  | { readonly type: 'cancelled' }
  /** Another updater goes on where one has died. */
  | { readonly type: 'resumed' }
  /** The journal could not be read; this is a new one, and the real state was looked at. */
  | {
      readonly type: 'unreadable'
      readonly reason: string
      readonly runningVersion: string
      readonly prepareSeq: number
      readonly proceedSeq: number
      readonly intent?: Intent
    }

export interface JournalRecord {
  readonly v: 1
  /** 1, 2, 3, … */
  readonly seq: number
  /** Wall time, for people. */
  readonly at: string
  readonly boot: string
  /** CLOCK_MONOTONIC of that boot, in ms. */
  readonly mono: number
  readonly event: AttemptEvent
  /** Where the event leads. What this step does begins only after the record is on disk. */
  readonly step: Step
}

export interface Ending {
  readonly outcome: Outcome
  readonly code: EdgeCode
  readonly reason: string
  readonly at: string
}

/** An action's newest report. */
export interface ActionState {
  readonly action: Action
  readonly step: Step
  readonly seq: number
  readonly at: string
  readonly final: boolean
  readonly succ: boolean
  readonly reason: string
}

/** All that a journal says. A pure fold of its records. */
export interface AttemptState {
  readonly step: Step
  readonly lastSeq: number
  readonly boot: string
  readonly mono: number
  readonly facts: Facts
  readonly confirm: boolean
  readonly prepareSeq: number
  /** 0 until the hub has once let it proceed. */
  readonly proceedSeq: number
  /** Why the newest `proceed` was refused. */
  readonly refusal?: { readonly code: EdgeCode; readonly reason: string }
  /** The intent as it was taken: the journal tells the whole story by itself. */
  readonly intent?: Intent
  /** Files were about to be replaced. */
  readonly swapBegan: boolean
  /** Starts of the new agent. */
  readonly starts: number
  /** Failures on the way back. */
  readonly backFailures: number
  readonly resumes: number
  /** Why it rolls back. */
  readonly failure?: { readonly code: EdgeCode; readonly reason: string }
  readonly ending?: Ending
  readonly spentMs: Readonly<Partial<Record<Stage, number>>>
  readonly actions: readonly ActionState[]
}

export const NOTHING: AttemptState = {
  step: 'E0',
  lastSeq: 0,
  boot: '',
  mono: 0,
  facts: {},
  confirm: false,
  prepareSeq: 0,
  proceedSeq: 0,
  swapBegan: false,
  starts: 0,
  backFailures: 0,
  resumes: 0,
  spentMs: {},
  actions: [],
}
