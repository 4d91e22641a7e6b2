import type { Outcome } from '@upgrade-hub/protocol'

/** What edgeadm ends with; printed by `--help` and stable. */
export const EXIT = {
  ok: 0,
  /** Nothing was changed: refused, failed before the agent was stopped, or cancelled. */
  unchanged: 1,
  usage: 2,
  /** It failed and the old agent runs again. */
  rolledBack: 3,
  /** The node needs a person. */
  rollbackFailed: 4,
  stateUnreadable: 5,
  unexpected: 70,
  /** Another command is at work; try again later. */
  busy: 75,
  config: 78,
} as const

/** The exit code that says how an attempt ended. */
export function exitCodeOf(outcome: Outcome | undefined): number {
  switch (outcome) {
    case undefined:
    case 'Succeeded':
      return EXIT.ok
    case 'RefusedBeforeChange':
    case 'FailedBeforeChange':
    case 'Cancelled':
      return EXIT.unchanged
    case 'RolledBack':
      return EXIT.rolledBack
    case 'RollbackFailed':
      return EXIT.rollbackFailed
    case 'StateUnreadable':
      return EXIT.stateUnreadable
  }
}
