import { readFileSync } from 'node:fs'
import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { systemClock } from '@upgrade-hub/core'
import { createService, loadEdgeConfig, probeVersion } from '@upgrade-hub/upgrader'
import { edgePaths } from './edge.ts'
import { NEW_VERSION, OLD_VERSION } from './job.ts'

/** What provably runs on a node of the demo, asked of the node and not of the hub. */
export interface Proof {
  readonly node: string
  readonly installed: string
  readonly running: boolean
  /** The version that the running process said when it started, the last line of its kind in its log. */
  readonly started: string
}

export async function proveEdge(node: string, folder: string): Promise<Proof> {
  const { components } = await loadEdgeConfig(edgePaths(folder).config)
  const [component] = components
  if (!component) throw new Error(`${node} has no component`)
  const log = readFileSync(edgePaths(folder).agentLog, 'utf8')
  return {
    node,
    installed: await probeVersion(component),
    running: (await createService(component, systemClock).state()).running,
    started: [...log.matchAll(/edgecore (\S+) started/g)].at(-1)?.[1] ?? '',
  }
}

/** What is wrong with the end of the demo; empty when it ended as it should. Pure. */
export function problemsOf(
  proofs: readonly Proof[],
  tasks: readonly NodeUpgradeTask[],
  unlucky: string,
): string[] {
  return proofs.flatMap((proof) => {
    const expected = proof.node === unlucky ? OLD_VERSION : NEW_VERSION
    const phase = tasks.find((task) => task.spec.nodeName === proof.node)?.status?.phase ?? 'no task'
    const wanted = proof.node === unlucky ? 'Failure' : 'Successful'
    return [
      ...(proof.installed === expected
        ? []
        : [`${proof.node} has ${proof.installed} installed, not ${expected}`]),
      ...(proof.started === expected ? [] : [`${proof.node} last started ${proof.started}, not ${expected}`]),
      ...(proof.running ? [] : [`no agent runs on ${proof.node}`]),
      ...(phase === wanted ? [] : [`the hub says ${phase} of ${proof.node}, not ${wanted}`]),
    ]
  })
}
