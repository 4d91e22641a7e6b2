import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { type Logger, messageOf } from '@upgrade-hub/core'
import type { OpenAttempt, Welcome } from '@upgrade-hub/protocol'
import { type KubeApi, TASKS } from '../../kube-api.ts'
import type { TaskCache } from '../reports/edge-writer.ts'
import { verdictOf } from './verdicts.ts'

/** A node has one open task a job; more than this at once is no node of ours. */
const MAX_TASKS_OF_A_NODE = 500

/**
 * The verdicts for `hello.open`. The cache knows what is active; only when something else is open, one list of the node's
 * tasks tells whether it has ended. While that cannot be read, the verdict is `unknown` and the next welcome says more.
 */
export async function judgeOpen(
  hello: { nodeName: string; open: readonly OpenAttempt[] },
  sources: { client: KubeApi; cache: TaskCache; log: Logger },
): Promise<Welcome['open']> {
  const { client, cache, log } = sources
  const active = hello.open.map((open) => cache.get(open.task))
  const isKnown = hello.open.every((open, i) => active[i]?.metadata.uid === open.taskUID)
  const live = isKnown ? undefined : await listTasks(client, hello.nodeName, log)
  return hello.open.map((open, i) => {
    const task = live?.get(open.task) ?? active[i]
    const verdict = task || live ? verdictOf(open, task) : 'unknown'
    return { task: open.task, attempt: open.attempt, verdict }
  })
}

async function listTasks(
  client: KubeApi,
  nodeName: string,
  log: Logger,
): Promise<ReadonlyMap<string, NodeUpgradeTask> | undefined> {
  try {
    const { items } = await client.list(TASKS, {
      fieldSelector: `spec.nodeName=${nodeName}`,
      limit: MAX_TASKS_OF_A_NODE,
    })
    return new Map(items.map((task) => [task.metadata.name, task]))
  } catch (error) {
    log.warn({ node: nodeName, error: messageOf(error) }, 'open attempts cannot be judged now')
    return undefined
  }
}
