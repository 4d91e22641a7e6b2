import { Type } from '@upgrade-hub/core/schema'
import type { Static } from 'typebox'
import type { EdgeConfig } from '../config.ts'
import { writeDurable } from '../host/durable.ts'
import { readJson } from '../host/read.ts'
import { checker } from './checker.ts'
import { epochFloor } from './paths.ts'

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
export function isStale(floor: Floor | undefined, permit: Omit<Floor, 'v'>): boolean {
  if (!floor || floor.nodeUID !== permit.nodeUID) return false
  return permit.epoch < floor.epoch || (permit.epoch === floor.epoch && permit.attempt !== floor.attempt)
}

/** Reads the floor. @throws UnreadableError: then no permission is good until a person has looked */
export function readFloor(config: EdgeConfig): Promise<Floor | undefined> {
  return readJson(epochFloor(config), check)
}

/** Raises the floor, durable on return. */
export function writeFloor(config: EdgeConfig, floor: Omit<Floor, 'v'>): Promise<void> {
  return writeDurable(epochFloor(config), JSON.stringify({ v: 1, ...floor }))
}
