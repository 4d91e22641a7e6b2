import {
  EDGE_NODE_LABEL,
  KUBEEDGE_FINALIZER,
  type NodeUpgradeJob,
  type NodeUpgradeTask,
} from '@upgrade-hub/api'
import { MUTATING_WEBHOOKS, NODES, VALIDATING_WEBHOOKS } from '@upgrade-hub/kube'
import { conditionOf, isEnd, isFinished, type SlimNode, slimNode, statusOf } from '@upgrade-hub/rollout'
import { IDENTITIES } from '../cluster/resources.ts'
import { cleanLine } from '../text/clean.ts'
import { type Check, type Finding, ifThere, ok, problem, warning } from './finding.ts'

const MOST = 20_000
const SHOWN = 5
const REVIEW = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const KUBEEDGE_WEBHOOKS = [
  {
    of: VALIDATING_WEBHOOKS,
    name: 'kubeedge-crds-validate-webhook-configuration',
    entry: 'validatenodeupgradejob.kubeedge.io',
  },
  { of: MUTATING_WEBHOOKS, name: 'kubeedge-mutating-webhook', entry: 'mutatingnodeupgradejob.kubeedge.io' },
] as const
const BESIDE = 'docs/beside-kubeedge.md says what to switch off'

export const kubeEdgeWebhooks: Check = {
  about: "KubeEdge's webhooks",
  async run(cluster) {
    const found = await Promise.all(
      KUBEEDGE_WEBHOOKS.map(async ({ of, name, entry }) => {
        const configuration = await ifThere(cluster.get(of, name))
        return configuration?.webhooks?.some((webhook) => webhook.name === entry)
          ? `${name} (${entry})`
          : undefined
      }),
    )
    const registered = found.filter((name) => name !== undefined)
    if (registered.length === 0) return [ok("KubeEdge's webhooks", 'none judges our jobs')]
    const message = `${registered.join(' and ')} judge our jobs by narrower rules, and stop them all when they do not answer`
    return [warning("KubeEdge's webhooks", message, `remove the entries; ${BESIDE}`)]
  },
}

export const jobs: Check = {
  about: 'jobs',
  run: async (cluster) => jobFindings(await cluster.jobs(MOST)),
}

/** Jobs that a person has to look at. Pure. */
export function jobFindings(jobs: readonly NodeUpgradeJob[]): Finding[] {
  const open = jobs.filter((job) => !isFinished(job))
  const declined = open.flatMap((job) => {
    const accepted = conditionOf(job, 'Accepted')
    return accepted?.status === 'False' ? [{ job, reason: accepted.reason, message: accepted.message }] : []
  })
  const foreign = open.filter(({ metadata }) => metadata.finalizers?.includes(KUBEEDGE_FINALIZER))
  return [
    ...(foreign.length > 0
      ? [
          problem(
            "KubeEdge's controller",
            `has its finalizer on ${names(foreign.map(({ metadata }) => metadata.name))}`,
            BESIDE,
          ),
        ]
      : []),
    ...declined.map(({ job, reason, message }) =>
      problem(
        `job ${job.metadata.name}`,
        `is not run: ${reason}: ${cleanLine(message)}`,
        FIXES[reason] ?? 'create it again without the fault',
      ),
    ),
    ...(foreign.length + declined.length === 0 ? [ok('jobs', `${open.length} open, none is refused`)] : []),
  ]
}

const FIXES: Readonly<Record<string, string>> = {
  ForeignController: BESIDE,
  NotAdopted: `kubectl patch nodeupgradejob NAME --type=merge -p '{"control":{"adopt":true}}'`,
}

export const holds: Check = {
  about: 'holds',
  async run(cluster) {
    // In this order: a node is not held before its task is active.
    const held = (await cluster.nodes()).map(slimNode).filter(({ hold }) => hold !== undefined)
    return holdFindings(held, await cluster.tasks({ active: true }, MOST))
  },
}

/** Marks on nodes whose upgrade is over or gone. Pure. */
export function holdFindings(held: readonly SlimNode[], active: readonly NodeUpgradeTask[]): Finding[] {
  const open = new Set(
    active.filter((task) => !isEnd(statusOf(task).phase)).map(({ metadata }) => metadata.uid),
  )
  const stuck = held.filter(({ hold }) => !open.has(hold?.taskUID))
  if (stuck.length === 0) return [ok('holds', `${held.length} nodes are held, each for an upgrade that runs`)]
  const message = `${names(stuck.map(({ name }) => name))} are still marked by upgrades that are over`
  return [problem('holds', message, 'a hub that leads lets go of them within a minute; see hub above')]
}

export const edges: Check = {
  about: 'edges',
  async run(cluster) {
    const [nodes, identities] = await Promise.all([
      cluster.list(NODES, { labelSelector: `${EDGE_NODE_LABEL}=` }, MOST),
      cluster.list(IDENTITIES, {}, MOST),
    ])
    const ends = identities.map(({ metadata, spec }) => ({
      name: metadata.name,
      notAfter: spec.notAfter ?? '',
    }))
    return edgeFindings(nodes.map(slimNode), ends, cluster.now())
  },
}

/** Edge nodes that no command can reach. Pure. */
export function edgeFindings(
  nodes: readonly SlimNode[],
  identities: readonly { readonly name: string; readonly notAfter: string }[],
  now: number,
): Finding[] {
  const enrolled = new Set(identities.map(({ name }) => name))
  const strangers = nodes.filter(({ name }) => !enrolled.has(name)).map(({ name }) => name)
  const away = nodes.filter(({ name, ready }) => enrolled.has(name) && !ready).map(({ name }) => name)
  const expired = identities.filter(({ notAfter }) => Date.parse(notAfter) < now).map(({ name }) => name)
  const findings = [
    ...(strangers.length > 0
      ? [
          warning(
            'edges',
            `${names(strangers)} never enrolled: no job can upgrade them`,
            'cloudhub token create --node NAME, then edgeadm join on the node',
          ),
        ]
      : []),
    ...(away.length > 0
      ? [
          warning(
            'edges',
            `${names(away)} are not Ready`,
            'kubectl nodeupgrade why NODE; on the node: systemctl status edgehub',
          ),
        ]
      : []),
    ...(expired.length > 0
      ? [
          problem(
            'edges',
            `the certificates of ${names(expired)} have ended`,
            'on the node: edgeadm join with a new token',
          ),
        ]
      : []),
  ]
  return findings.length > 0 ? findings : [ok('edges', `${nodes.length} edge nodes, all enrolled and Ready`)]
}

export const silent: Check = {
  about: 'sessions',
  async run(cluster) {
    const waiting = await cluster.tasks({ phase: 'Pending', active: true }, MOST)
    const mute = waiting
      .filter((task) => statusOf(task).reason === 'Unreachable')
      .map(({ spec }) => spec.nodeName)
    if (mute.length === 0) return [ok('sessions', 'every edge that was asked answers')]
    return [
      warning(
        'sessions',
        `${names(mute)} do not answer`,
        'kubectl nodeupgrade why NODE; on the node: systemctl status edgehub',
      ),
    ]
  },
}

const RIGHTS = [
  ['create', 'operations.kubeedge.io', 'nodeupgradejobs', 'create, plan, retry'],
  ['patch', 'operations.kubeedge.io', 'nodeupgradejobs', 'pause, resume, approve, cancel'],
  ['list', 'upgradehub.io', 'nodeupgradetasks', 'status, watch, why, history'],
  ['list', '', 'nodes', 'plan, doctor'],
  ['patch', '', 'nodes', 'hold'],
] as const

export const rights: Check = {
  about: 'your rights',
  async run(cluster) {
    const lacking = await Promise.all(
      RIGHTS.map(async ([verb, group, resource, verbs]) => {
        const spec = { resourceAttributes: { verb, group, resource } }
        const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }
        const review = (await cluster.raw(REVIEW, { method: 'POST', body })) as {
          status?: { allowed?: boolean }
        }
        return review.status?.allowed ? [] : [`${verb} ${resource} (for ${verbs})`]
      }),
    )
    const missing = lacking.flat()
    if (missing.length === 0) return [ok('your rights', 'you may use every verb')]
    return [
      warning(
        'your rights',
        `you may not ${missing.join(', nor ')}`,
        'bind yourself to upgradehub-operator, and to a role that reads nodes',
      ),
    ]
  },
}

function names(all: readonly string[]): string {
  const more = all.length > SHOWN ? ` and ${all.length - SHOWN} more` : ''
  return all.slice(0, SHOWN).join(', ') + more
}
