import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import type { Counter, Metrics } from '@upgrade-hub/core'
import type { EventRecorder } from '@upgrade-hub/kube'
import type { HubEvent, SlimNode } from '@upgrade-hub/rollout'

/** Above this many nodes the good news of single nodes is left to the summary of the job. */
const QUIET_ABOVE = 256

/** What an event may be about. */
export interface Regarding {
  readonly job?: NodeUpgradeJob | undefined
  readonly node?: SlimNode | undefined
}

/** Tells people and metrics what was stored. Called after the write, so that nothing is announced that did not happen. */
export class Teller {
  readonly #recorder: EventRecorder
  readonly #ended: Counter
  readonly #refused: Counter

  constructor({ recorder, metrics }: { recorder: EventRecorder; metrics: Metrics }) {
    this.#recorder = recorder
    this.#ended = metrics.counter('upgradehub_tasks_ended_total', 'Tasks by how they ended.', [
      'phase',
      'reason',
    ])
    this.#refused = metrics.counter(
      'upgradehub_writes_refused_total',
      'Writes that met a newer object or had an unknown outcome, and were decided again.',
      ['kind', 'code'],
    )
  }

  events(events: readonly HubEvent[] | undefined, { job, node }: Regarding): void {
    const quiet = (job?.status?.plan?.total ?? 0) > QUIET_ABOVE
    for (const { on, type, reason, note } of events ?? []) {
      if (quiet && type === 'Normal' && reason.startsWith('Node')) continue
      const regarding = on === 'job' ? aboutJob(job) : aboutNode(node)
      if (regarding) this.#recorder.record({ regarding, type, reason, note })
    }
  }

  ended({ status }: NodeUpgradeTask): void {
    this.#ended.inc({ phase: status?.phase ?? '', reason: status?.reason ?? '' })
  }

  refused(kind: string, code: string): void {
    this.#refused.inc({ kind, code })
  }
}

function aboutJob(job: NodeUpgradeJob | undefined) {
  if (!job) return undefined
  const { name, uid = '' } = job.metadata
  return { apiVersion: job.apiVersion, kind: job.kind, name, uid }
}

/** The kubelet names itself by the node's name where a UID is asked for; kubectl describe finds events by that. */
function aboutNode(node: SlimNode | undefined) {
  return node ? { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid } : undefined
}
