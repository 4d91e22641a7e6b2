import { at, listAt, stringAt } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { age, column, NAME, NONE, wide } from './column-kit.ts'

function ready(pod: KubeObject): string {
  const all = listAt(pod, 'spec', 'containers').length
  const up = listAt(pod, 'status', 'containerStatuses').filter((c) => at(c, 'ready') === true).length
  return `${up}/${all}`
}

/** The reason of a container that waits or ended tells more than the phase. */
function status(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp) return 'Terminating'
  const reasons = listAt(pod, 'status', 'containerStatuses').map(
    (c) => stringAt(c, 'state', 'waiting', 'reason') || stringAt(c, 'state', 'terminated', 'reason'),
  )
  return reasons.findLast(Boolean) ?? (stringAt(pod, 'status', 'reason') || stringAt(pod, 'status', 'phase'))
}

function restarts(pod: KubeObject): string {
  const counts = listAt(pod, 'status', 'containerStatuses').map((c) => Number(at(c, 'restartCount') ?? 0))
  return String(counts.reduce((sum, count) => sum + count, 0))
}

function gates(pod: KubeObject): string {
  const types = listAt(pod, 'spec', 'readinessGates').map((gate) => stringAt(gate, 'conditionType'))
  if (types.length === 0) return NONE
  const conditions = listAt(pod, 'status', 'conditions')
  const met = types.filter((type) =>
    conditions.some((c) => stringAt(c, 'type') === type && stringAt(c, 'status') === 'True'),
  )
  return `${met.length}/${types.length}`
}

export const podColumns = [
  NAME,
  column('Ready', 'The aggregate readiness state of this pod for accepting traffic.', ready),
  column('Status', 'The aggregate status of the containers in this pod.', status),
  column('Restarts', 'The number of times the containers in this pod have been restarted.', restarts),
  age(),
  wide(column('IP', 'podIP address allocated to the pod.', (o) => stringAt(o, 'status', 'podIP') || NONE)),
  wide(
    column(
      'Node',
      'The node on which this pod is scheduled.',
      (o) => stringAt(o, 'spec', 'nodeName') || NONE,
    ),
  ),
  wide(
    column(
      'Nominated Node',
      'The node that this pod was nominated for.',
      (o) => stringAt(o, 'status', 'nominatedNodeName') || NONE,
    ),
  ),
  wide(column('Readiness Gates', 'The readiness gates that are met, of all.', gates)),
]
