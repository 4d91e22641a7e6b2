import { amountOf } from './amount.ts'
import type { JobIndex } from './job-index.ts'
import type { JobPlan } from './job-plan.ts'

/** What a job may do at the same time, in nodes. */
export interface Limits {
  readonly slots: number
  /** Nodes that may be down, whoever took them down. */
  readonly unavailable: number
  readonly ahead: number
}

/** The limits of a job with `total` nodes, while a wave of it is on. */
export function limitsOf(plan: JobPlan, total: number, wave?: { index: number; total: number }): Limits {
  const ofWave = wave && plan.waves[wave.index]?.maxConcurrent
  const slots =
    ofWave === undefined ? amountOf(plan.maxConcurrent, total) : amountOf(ofWave, wave?.total ?? 0)
  return {
    slots,
    unavailable:
      plan.maxUnavailable === undefined ? Number.POSITIVE_INFINITY : amountOf(plan.maxUnavailable, total),
    ahead: amountOf(plan.prepareAhead, total) || slots,
  }
}

/** Nodes in use: told to proceed, taken, or about to be. */
export interface InUse {
  readonly inProgress: number
  readonly taken: number
  /** By name of their nodes. */
  readonly releasing: readonly string[]
}

/**
 * Picks from what is ready, in order, what fits: a free slot each, and room under `unavailable` for a node that is not down
 * already.
 */
export function fitting<T extends { readonly nodeName: string }>(
  ready: readonly T[],
  { limits, inUse, index }: { limits: Limits; inUse: InUse; index: JobIndex },
): T[] {
  const { inProgress, taken, releasing } = inUse
  const isUp = (nodeName: string) => !index.nodes.isDown(nodeName)
  let slots = limits.slots - inProgress - taken - releasing.length
  let room = limits.unavailable - index.nodes.down - inProgress - taken - releasing.filter(isUp).length
  const picked: T[] = []
  for (const one of ready) {
    const needs = isUp(one.nodeName) ? 1 : 0
    if (slots < 1) break
    if (needs > room) continue
    picked.push(one)
    slots -= 1
    room -= needs
  }
  return picked
}
