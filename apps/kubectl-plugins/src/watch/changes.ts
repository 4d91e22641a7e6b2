import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { JobIndex } from '@upgrade-hub/rollout'
import { jobReport } from '../status/job-report.ts'
import { type NodeLine, nodeLine } from '../status/node-line.ts'

/** What a piped `watch` prints. */
export type ChangeLine =
  | { readonly of: 'job'; readonly state: string; readonly message: string }
  | ({ readonly of: 'node' } & Omit<NodeLine, 'percent'>)

/** Tells what is new of a job and its nodes; what was said before, or is only a percentage further, is no news. */
export class Changes {
  #said = new Map<string, string>()

  ofJob(job: NodeUpgradeJob, now: number): ChangeLine | undefined {
    const { state, message } = jobReport(job, new JobIndex(), { now, most: 0 })
    return this.#news('', { of: 'job', state, message })
  }

  ofTask(task: NodeUpgradeTask, now: number): ChangeLine | undefined {
    const { percent: _, ...line } = nodeLine(task, now)
    return this.#news(task.metadata.name, { of: 'node', ...line })
  }

  #news(key: string, line: ChangeLine): ChangeLine | undefined {
    const { since: _, ...lasting } = { since: '', ...line }
    const text = JSON.stringify(lasting)
    if (this.#said.get(key) === text) return undefined
    this.#said.set(key, text)
    return line
  }
}

/** `2026-01-01T00:00:00Z edge-1 InProgress swapping` */
export function changeText(line: ChangeLine, time: string): string {
  const words =
    line.of === 'job'
      ? ['job', line.state, line.message]
      : [line.node, line.phase, line.doing, [line.reason, line.message].filter(Boolean).join(': ')]
  return [time, ...words].filter(Boolean).join(' ')
}
