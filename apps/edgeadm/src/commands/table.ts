import { certRenew, join } from '../join/index.ts'
import { attemptResume, attemptRun } from './attempt.ts'
import { backupEdge } from './backup.ts'
import type { Command } from './command.ts'
import { ctlConfirm, ctlStatus, status } from './status.ts'
import { rollbackEdge, upgradeEdge } from './upgrade.ts'

/** Every command there is. */
export const COMMANDS: readonly Command[] = [
  join,
  upgradeEdge,
  backupEdge,
  rollbackEdge,
  ctlConfirm,
  ctlStatus,
  status,
  certRenew,
  attemptRun,
  attemptResume,
]
