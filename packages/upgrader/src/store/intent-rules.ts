import { HubError, historyId, isVersion, parseHistoryId, parseImage } from '@upgrade-hub/core'
import type { Prepare, TaskRef } from '@upgrade-hub/protocol'
import { isAttemptId, isPlainUid } from './paths.ts'
import { isPreparing, type Snapshot } from './view.ts'

/** What is wrong with an intent although its frame was valid; the hub is not trusted. */
export function badRequest(prepare: Prepare): string | undefined {
  const id = historyId(prepare.Task, prepare.Attempt)
  if (prepare.HistoryID !== id || !isAttemptId(id)) return 'HistoryID is not {Task}.{Attempt}'
  if (!isPlainUid(prepare.TaskUID)) return 'TaskUID is not a UID'
  if (!isVersion(prepare.Version)) return 'Version is not a version'
  if (prepare.ImageDigest !== '' && !/^sha256:[a-f0-9]{64}$/.test(prepare.ImageDigest))
    return 'ImageDigest is no digest'
  if (prepare.Purpose === 'RollBack' && prepare.Image === '') return undefined
  return imageProblem(prepare.Image)
}

/** The highest number of an intent that was stored for this attempt. */
export function newestSeq({ prepare, permit, cancel }: Snapshot): number {
  return Math.max(prepare.IntentSeq, permit?.intentSeq ?? 0, cancel?.intentSeq ?? 0)
}

/** The updater has begun with a permission and has not come to an end. */
export function isUnderWay({ state }: Snapshot): boolean {
  return state.proceedSeq > 0 && state.step !== 'prepared' && state.step !== 'ended' && !isPreparing(state)
}

export function isCancelled({ state }: Snapshot): boolean {
  return state.ending?.outcome === 'Cancelled'
}

/** What an answer about an attempt that is not here can say. */
export function namesOf(id: string): Pick<TaskRef, 'Task' | 'TaskUID' | 'Attempt'> {
  const parts = parseHistoryId(id)
  return { Task: parts?.task ?? id.slice(0, 253), TaskUID: 'unknown', Attempt: parts?.attempt ?? 1 }
}

function imageProblem(image: string): string | undefined {
  try {
    parseImage(image)
    return undefined
  } catch (error) {
    if (error instanceof HubError) return error.message
    throw error
  }
}
