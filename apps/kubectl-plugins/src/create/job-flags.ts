import type { LabelSelector, NodeUpgradeJob, NodeUpgradeJobSpec, UpgradeHubSpec } from '@upgrade-hub/api'
import type { Flags, FlagTypes } from '../cli/flags.ts'
import { nodeName } from '../cluster/names.ts'
import { newJob } from '../cluster/resources.ts'
import { UsageError } from '../errors.ts'
import { parseSelector } from './parse-selector.ts'

/** The flags that say what a job is to do: those of `create`, and of `plan` before it. */
export const JOB_FLAGS = {
  'to-version': { type: 'string' },
  selector: { type: 'string', short: 'l' },
  node: { type: 'string', multiple: true },
  'all-nodes': { type: 'boolean' },
  'exclude-node': { type: 'string', multiple: true },
  'exclude-selector': { type: 'string' },
  image: { type: 'string' },
  concurrency: { type: 'string' },
  'max-concurrent': { type: 'string' },
  'max-unavailable': { type: 'string' },
  'failure-tolerate': { type: 'string' },
  'check-items': { type: 'string' },
  'require-confirmation': { type: 'boolean' },
  timeout: { type: 'string' },
  'allow-downgrade': { type: 'boolean' },
  offline: { type: 'string' },
  retries: { type: 'string' },
} as const satisfies FlagTypes

export const JOB_FLAGS_HELP = [
  '--to-version VERSION          the version, such as v1.12.0 (required)',
  '-l, --selector SELECTOR       nodes by label, as kubectl get -l takes it',
  '--node NAME                   a node by name; may be given again',
  '--all-nodes                   every edge node',
  '--exclude-node NAME, --exclude-selector SELECTOR   nodes left out of the selection',
  '--image IMAGE                 the installation image; its tag becomes the version',
  '--concurrency N               nodes at the same time (default 1)',
  '--max-concurrent N|N%         the same, also as a share of the nodes',
  '--max-unavailable N|N%        nodes that may be down at the same time, whoever took them down',
  '--failure-tolerate RATIO      failed nodes that are tolerated, from 0 to 1 (default 0.1)',
  '--check-items cpu,mem,disk    what is checked on each node first',
  '--require-confirmation        each node waits for edgeadm ctl confirm',
  '--timeout DURATION            of each of the two phases, prepare and proceed (default 5m)',
  '--offline Skip|Queue|Fail     what happens to nodes that are away (default Skip)',
  '--retries N                   times that a failed node is tried again by itself (default 0)',
  '--allow-downgrade             a lower version is meant',
]

/** The job that flags describe. What they do not say is left to the defaults of the schema. @throws UsageError */
export function jobFromFlags(name: string, flags: Flags): NodeUpgradeJob {
  return newJob(name, specFromFlags(flags))
}

function specFromFlags(flags: Flags): NodeUpgradeJobSpec {
  const version = flags.text('to-version')
  if (version === undefined) throw new UsageError('--to-version is required, such as --to-version v1.12.0')
  const timeoutMs = flags.duration('timeout')
  const ours = oursFromFlags(flags)
  return {
    version,
    ...targetsFromFlags(flags),
    ...present('image', flags.text('image')),
    ...present('concurrency', flags.whole('concurrency', 1)),
    ...present('failureTolerate', flags.text('failure-tolerate')),
    ...present('checkItems', flags.text('check-items')?.split(',').filter(Boolean)),
    ...(flags.isSet('require-confirmation') ? { requireConfirmation: true } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutSeconds: Math.ceil(timeoutMs / 1000) }),
    ...(Object.keys(ours).length > 0 ? { upgradeHub: ours } : {}),
  }
}

function targetsFromFlags(flags: Flags): Pick<NodeUpgradeJobSpec, 'nodeNames' | 'labelSelector'> {
  const names = flags.list('node')
  const selector = flags.text('selector')
  const given = [names.length > 0, selector !== undefined, flags.isSet('all-nodes')].filter(Boolean).length
  if (given !== 1) throw new UsageError('say which nodes: exactly one of --selector, --node and --all-nodes')
  if (names.length > 0) return { nodeNames: names.map(nodeName) }
  return { labelSelector: selector === undefined ? {} : selectorFlag('selector', selector) }
}

function oursFromFlags(flags: Flags): UpgradeHubSpec {
  const policy = flags.oneOf('offline', ['Skip', 'Queue', 'Fail'])
  const limit = flags.whole('retries')
  const names = flags.list('exclude-node').map(nodeName)
  const selector = flags.text('exclude-selector')
  const exclude = {
    ...(names.length > 0 ? { nodeNames: names } : {}),
    ...(selector === undefined ? {} : { labelSelector: selectorFlag('exclude-selector', selector) }),
  }
  return {
    ...(flags.isSet('all-nodes') ? { allNodes: true } : {}),
    ...(Object.keys(exclude).length > 0 ? { exclude } : {}),
    ...present('maxConcurrent', amountFlag(flags, 'max-concurrent')),
    ...present('maxUnavailable', amountFlag(flags, 'max-unavailable')),
    ...(policy === undefined ? {} : { offline: { policy } }),
    ...(limit === undefined ? {} : { retry: { limit } }),
    ...(flags.isSet('allow-downgrade') ? { versionPolicy: 'AllowDowngrade' as const } : {}),
  }
}

function selectorFlag(name: string, text: string): LabelSelector {
  const selector = parseSelector(text)
  if (selector === undefined) {
    throw new UsageError(
      `--${name} ${JSON.stringify(text)}: write key=value, key!=value, key, !key, key in (a,b) or key notin (a,b), joined by commas`,
    )
  }
  return selector
}

function amountFlag(flags: Flags, name: string): number | string | undefined {
  const text = flags.text(name)
  return text !== undefined && /^\d{1,3}%$/.test(text) ? text : flags.whole(name, 1)
}

function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: V }
}
