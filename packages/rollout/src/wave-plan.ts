import type { Wave } from '@upgrade-hub/api'
import { matchesSelector } from './selector.ts'
import type { NodeLookup, Target } from './targets.ts'

/**
 * Puts each target into its wave, and all into the order in which they are upgraded: wave by wave, within one as they were
 * given. What is refused goes to the end: it takes no place in any wave.
 */
export function inWaves(targets: readonly Target[], waves: readonly Wave[], nodes: NodeLookup): Target[] {
  const refused = targets.filter((target) => target.verdict === 'Refused')
  let rest = targets.filter((target) => target.verdict === 'Run')
  const total = rest.length
  const placed: Target[] = []
  waves.forEach((wave, index) => {
    const taken = new Set(takenBy(wave, { rest, total, nodes }))
    placed.push(...[...taken].map((target) => ({ ...target, wave: index })))
    rest = rest.filter((target) => !taken.has(target))
  })
  const last = [...rest, ...refused].map((target) => ({ ...target, wave: waves.length }))
  return [...placed, ...last].map((target, order) => ({ ...target, order }))
}

/** A percentage of a wave is rounded up: a canary of 1 % is at least a node. */
function takenBy(
  { size, labelSelector }: Wave,
  { rest, total, nodes }: { rest: readonly Target[]; total: number; nodes: NodeLookup },
): Target[] {
  const matching = labelSelector
    ? rest.filter(({ nodeName }) => matchesSelector(nodes.get(nodeName)?.labels ?? {}, labelSelector))
    : rest
  return matching.slice(0, size === undefined ? matching.length : sizeOf(size, total))
}

function sizeOf(size: number | string, total: number): number {
  return typeof size === 'number' ? size : Math.ceil((Number.parseInt(size, 10) * total) / 100)
}
