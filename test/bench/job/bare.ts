import { type NodeUpgradeTask, TASK_KIND } from '@upgrade-hub/api'
import { type KubeClient, NODES, resource } from '@upgrade-hub/kube'
import { inParallel } from './parallel.ts'

const TASKS = resource<NodeUpgradeTask>(TASK_KIND)
/** As many as the hub has in flight. */
const WIDTH = 16

/**
 * Seconds that this API server needs for the eight writes of one node when a bare client sends nothing else: the finished
 * tasks of a job are made once more under other names, and told what they were told, in as many writes and of the same size.
 * No job can be faster than that.
 */
export async function bareSecondsPerNode(
  admin: KubeClient,
  finished: readonly NodeUpgradeTask[],
): Promise<number> {
  const started = performance.now()
  await inParallel(finished, WIDTH, (task) => replay(admin, task))
  return (performance.now() - started) / 1000 / finished.length
}

async function replay(admin: KubeClient, { metadata, spec, status }: NodeUpgradeTask): Promise<void> {
  const name = `bare-${metadata.name}`
  const task = { apiVersion: 'upgradehub.io/v1alpha1', kind: 'NodeUpgradeTask', metadata: { name }, spec }
  let { resourceVersion } = (await admin.create(TASKS, task as NodeUpgradeTask)).metadata
  for (const [at, part] of (status ? partsOf(status) : []).entries()) {
    // A node is taken before its agent may stop, and let go before its task ends.
    if (at === 2) await admin.patch(NODES, spec.nodeName, nodePatch('held'))
    if (at === 4) await admin.patch(NODES, spec.nodeName, nodePatch(null))
    const body = { metadata: { resourceVersion }, status: part }
    const patched = await admin.patch(TASKS, name, body, { subresource: 'status' })
    resourceVersion = patched.metadata.resourceVersion
  }
}

/** A status as it came to be: told to prepare, prepared, told to proceed, result, end. */
function partsOf({ phase, completionTime, edge, ...told }: NonNullable<NodeUpgradeTask['status']>): object[] {
  const { results, answer, actions, ...heard } = edge ?? {}
  const prepared = { edge: { ...heard, answer, actions: actions?.slice(0, 1) } }
  return [
    { ...told, phase: 'Pending', outcome: undefined, attempts: undefined },
    prepared,
    { phase: 'InProgress', deadline: told.deadline, intent: told.intent },
    { edge: { actions, results } },
    { ...told, phase, completionTime },
  ]
}

function nodePatch(hold: string | null): object {
  return { metadata: { annotations: { 'bench/hold': hold } }, spec: { unschedulable: hold ? true : null } }
}
