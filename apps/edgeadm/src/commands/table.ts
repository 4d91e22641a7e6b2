import { attemptResume, attemptRun } from './attempt.ts'
import { backupEdge } from './backup.ts'
import type { Command } from './command.ts'
import { ctlConfirm, ctlStatus, status } from './status.ts'
import { rollbackEdge, upgradeEdge } from './upgrade.ts'

/** Every command there is. */
export const COMMANDS: readonly Command[] = [
  upgradeEdge,
  backupEdge,
  rollbackEdge,
  ctlConfirm,
  ctlStatus,
  status,
  attemptRun,
  attemptResume,
]
