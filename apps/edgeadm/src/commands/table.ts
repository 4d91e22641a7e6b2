import { certRenew, join } from '../join/index.ts'
import { attemptResume, attemptRun } from './attempt.ts'
import { backupEdge } from './backup.ts'
import type { Command } from './command.ts'
import { ctlConfirm, ctlHold, ctlRelease } from './ctl.ts'
import { ctlStatus, status } from './status.ts'
import { rollbackEdge, upgradeEdge } from './upgrade.ts'

/** Every command there is. */
export const COMMANDS: readonly Command[] = [
  join,
  upgradeEdge,
  backupEdge,
  rollbackEdge,
  ctlConfirm,
  ctlStatus,
  ctlHold,
  ctlRelease,
  status,
  certRenew,
  attemptRun,
  attemptResume,
]
