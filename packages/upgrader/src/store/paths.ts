import { join } from 'node:path'
import { parseHistoryId } from '@upgrade-hub/core'
import type { EdgeConfig } from '../config.ts'

/** The files of one attempt under `paths.state`. edgehub writes the first five, the updater the rest. */
export interface AttemptPaths {
  readonly folder: string
  readonly prepare: string
  readonly permit: string
  readonly cancel: string
  readonly confirmed: string
  /** Made by link(2): who is first, a cancel or the updater on its way to the stop, decides. */
  readonly gate: string
  readonly journal: string
  readonly owner: string
  readonly download: string
  readonly log: string
}

export function attemptsFolder(config: EdgeConfig): string {
  return join(config.paths.state, 'attempts')
}

/** @param id a HistoryID that `parseHistoryId` understands, so it is one plain path segment */
export function attemptPaths(config: EdgeConfig, id: string): AttemptPaths {
  const folder = join(attemptsFolder(config), id)
  const file = (name: string) => join(folder, name)
  return {
    folder,
    prepare: file('prepare.json'),
    permit: file('permit.json'),
    cancel: file('cancel.json'),
    confirmed: file('confirmed.json'),
    gate: file('gate.json'),
    journal: file('journal.jsonl'),
    owner: file('owner'),
    download: file('download.json'),
    log: file('updater.log'),
  }
}

/** True for what may name an attempt's folder. */
export function isAttemptId(id: string): boolean {
  return id.length <= 255 && parseHistoryId(id) !== undefined
}

/** True for a task UID that may name a folder. */
export function isPlainUid(uid: string): boolean {
  return /^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$/.test(uid)
}

/** Where the new files wait. */
export function stagingFolder(config: EdgeConfig, taskUID: string, attempt: number): string {
  return join(config.paths.etc, 'upgrade', `${taskUID}.${attempt}`)
}

export function backupsFolder(config: EdgeConfig): string {
  return join(config.paths.etc, 'backup')
}

/** The lock that KubeEdge's keadm respects, too. */
export function nodeLock(config: EdgeConfig): string {
  return join(config.paths.etc, 'idempotency_record')
}

export function epochFloor(config: EdgeConfig): string {
  return join(config.paths.state, 'floor.json')
}

/** Set by a person at this node. */
export function holdFile(config: EdgeConfig): string {
  return join(config.paths.state, 'hold.json')
}

export function spoolFolder(config: EdgeConfig): string {
  return join(config.paths.state, 'spool')
}
