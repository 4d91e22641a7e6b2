import { Type } from '@upgrade-hub/core/schema'
import type { Static } from 'typebox'
import type { EdgeConfig } from '../config.ts'
import { makeFolder, removeDurable, writeDurable } from '../host/durable.ts'
import { readJson } from '../host/read.ts'
import { checker } from './checker.ts'
import { holdFile } from './paths.ts'

/** Why no upgrade of the hub may stop the agent of this node, said by a person here. */
const Hold = Type.Object({
  v: Type.Literal(1),
  since: Type.String({ maxLength: 40 }),
  reason: Type.String({ maxLength: 256 }),
})
export type Hold = Static<typeof Hold>

const check = checker(Hold)

/** The hold of this node; undefined when there is none. @throws UnreadableError: then the node counts as held */
export function readHold(config: EdgeConfig): Promise<Hold | undefined> {
  return readJson(holdFile(config), check)
}

/** Durable on return; a second one replaces the first. */
export async function writeHold(config: EdgeConfig, hold: Omit<Hold, 'v'>): Promise<void> {
  await makeFolder(config.paths.state)
  await writeDurable(holdFile(config), JSON.stringify({ v: 1, ...hold }))
}

export function removeHold(config: EdgeConfig): Promise<void> {
  return removeDurable(holdFile(config))
}

/** Why the hub may not proceed here, in words; undefined when it may. */
export async function heldBecause(config: EdgeConfig): Promise<string | undefined> {
  const hold = await readHold(config).catch(() => ({
    since: 'an unknown time',
    reason: 'hold.json is unreadable',
  }))
  if (!hold) return undefined
  return `held at the node since ${hold.since}${hold.reason === '' ? '' : `: ${hold.reason}`}`
}
