import { InvariantError } from '@upgrade-hub/core'
import type { Step } from '../machine/steps.ts'
import { cleanUp, report } from './closing-steps.ts'
import type { StepRun } from './context.ts'
import { proveNew } from './health.ts'
import { precheck } from './precheck.ts'
import { awaitConfirmation, fetchFiles, stage, takeLock } from './prepare-steps.ts'
import { backUpAndAsk, commit, startNew, stopAgent, swapFiles } from './proceed-steps.ts'
import {
  checkBackup,
  proveOldAndRelease,
  putFilesBack,
  startOld,
  startWhatIsThere,
  stopForRollback,
} from './rollback-steps.ts'

const nothing: StepRun = () => Promise.resolve(undefined)
const never: StepRun = () => {
  throw new InvariantError('an attempt at rest does nothing')
}

/** What each step does. */
export const STEP_RUNS: Readonly<Record<Step, StepRun>> = {
  // The intent is on disk before there is an updater.
  E0: nothing,
  E1: takeLock,
  E2: precheck,
  E3: fetchFiles,
  E4: stage,
  E4c: awaitConfirmation,
  prepared: never,
  E5: backUpAndAsk,
  E6: stopAgent,
  E7: swapFiles,
  E8: startNew,
  E9: proveNew,
  E10: commit,
  R5: checkBackup,
  R6: stopForRollback,
  R7: putFilesBack,
  R8: startOld,
  R9: proveOldAndRelease,
  R10: startWhatIsThere,
  E11: report,
  E12: cleanUp,
  ended: never,
}
