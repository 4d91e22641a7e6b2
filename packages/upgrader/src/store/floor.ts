import { Type } from '@upgrade-hub/core/schema'
import type { Static } from 'typebox'
import type { EdgeConfig } from '../config.ts'
import { UnreadableError } from '../errors.ts'
import { writeDurable } from '../host/durable.ts'
import { readJson } from '../host/read.ts'
import { checker } from './checker.ts'
import { Inbox } from './inbox.ts'
import { attemptIds, loadIntent } from './load.ts'
import { attemptPaths, epochFloor } from './paths.ts'

const Floor = Type.Object({
  v: Type.Literal(1),
  nodeUID: Type.String({ maxLength: 64 }),
  epoch: Type.Integer({ minimum: 0 }),
  attempt: Type.String({ maxLength: 300 }),
})
/** The highest take of this node that was ever seen. */
export type Floor = Static<typeof Floor>

const check = checker(Floor)

/** True when a permission is older than one that was seen: a stale leader's, or a duplicate for another attempt. */
export function isStale(floor: Take | undefined, permit: Take): boolean {
  if (!floor || floor.nodeUID !== permit.nodeUID) return false
  return permit.epoch < floor.epoch || (permit.epoch === floor.epoch && permit.attempt !== floor.attempt)
}

type Take = Omit<Floor, 'v'>

/** Reads the floor. One that is damaged is put together again from the permissions that are still on disk. */
export async function readFloor(config: EdgeConfig): Promise<Take | undefined> {
  try {
    return await readJson(epochFloor(config), check)
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    return highestTake(config)
  }
}

async function highestTake(config: EdgeConfig): Promise<Take | undefined> {
  const takes = await Promise.all((await attemptIds(config)).map((id) => takeOf(config, id)))
  return takes.filter((take) => take !== undefined).toSorted((a, b) => b.epoch - a.epoch)[0]
}

async function takeOf(config: EdgeConfig, attempt: string): Promise<Take | undefined> {
  const permit = await new Inbox(attemptPaths(config, attempt)).permit()
  const intent = await loadIntent(config, attempt)
  return permit && intent && { nodeUID: intent.prepare.NodeUID, epoch: permit.epoch, attempt }
}

/** Raises the floor, durable on return. */
export function writeFloor(config: EdgeConfig, floor: Take): Promise<void> {
  return writeDurable(epochFloor(config), JSON.stringify({ v: 1, ...floor }))
}
