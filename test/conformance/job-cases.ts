import { type Job, job } from './objects.ts'

/** A job that must be refused, and a piece of the sentence that says why. */
export interface BadJob {
  readonly title: string
  readonly spec: unknown
  readonly sentence: string
}

const base = { version: 'v1.12.0', nodeNames: ['edge-1'] }
const bySelector = (labelSelector: unknown) => ({ version: 'v1.12.0', labelSelector })

/** Jobs that no webhook is needed to refuse. */
export const BAD_JOBS: readonly BadJob[] = [
  { title: 'no spec', spec: null, sentence: 'both NodeNames and LabelSelector are NOT specified' },
  {
    title: 'neither nodeNames nor labelSelector',
    spec: { version: 'v1.12.0' },
    sentence: 'both NodeNames and LabelSelector are NOT specified',
  },
  {
    title: 'empty nodeNames and no labelSelector',
    spec: { version: 'v1.12.0', nodeNames: [] },
    sentence: 'both NodeNames and LabelSelector are NOT specified',
  },
  {
    title: 'both nodeNames and labelSelector',
    spec: { ...base, labelSelector: { matchLabels: { a: 'b' } } },
    sentence: 'both NodeNames and LabelSelector are specified',
  },
  {
    title: 'an empty selector without allNodes',
    spec: bySelector({}),
    sentence: 'set upgradeHub.allNodes to true',
  },
  {
    title: 'a selector of empty parts without allNodes',
    spec: bySelector({ matchLabels: {}, matchExpressions: [] }),
    sentence: 'set upgradeHub.allNodes to true',
  },
  {
    title: 'an empty selector with allNodes false',
    spec: { ...bySelector({}), upgradeHub: { allNodes: false } },
    sentence: 'set upgradeHub.allNodes to true',
  },
  { title: 'no version', spec: { nodeNames: ['edge-1'] }, sentence: 'invalid version ""' },
  {
    title: 'a version that is none',
    spec: { ...base, version: 'latest' },
    sentence: 'invalid version latest',
  },
  {
    title: 'a version without its patch',
    spec: { ...base, version: 'v1.12' },
    sentence: 'invalid version v1.12',
  },
  { title: 'a version with a newline', spec: { ...base, version: 'v1.12.0\n' }, sentence: 'invalid version' },
  {
    title: 'a bare image',
    spec: { ...base, image: 'installation-package' },
    sentence: 'invalid image repo installation-package',
  },
  {
    title: 'an image with a space',
    spec: { ...base, image: 'kubeedge/installation package' },
    sentence: 'invalid image repo kubeedge/installation package',
  },
  {
    title: 'an image with a bad digest',
    spec: { ...base, image: 'kubeedge/installation-package@sha256:xyz' },
    sentence: 'invalid image repo',
  },
  {
    title: 'a tolerance above one',
    spec: { ...base, failureTolerate: '1.1' },
    sentence: 'failureTolerate is a ratio from 0 to 1',
  },
  {
    title: 'a tolerance in percent',
    spec: { ...base, failureTolerate: '10%' },
    sentence: 'failureTolerate is a ratio from 0 to 1',
  },
  {
    title: 'a negative tolerance',
    spec: { ...base, failureTolerate: '-0.1' },
    sentence: 'failureTolerate is a ratio from 0 to 1',
  },
  {
    title: 'a tolerance that is a number',
    spec: { ...base, failureTolerate: 0.1 },
    sentence: 'must be of type string',
  },
  {
    title: 'an unknown tool',
    spec: { ...base, upgradeTool: 'apt' },
    sentence: 'upgradeTool knows keadm and exec',
  },
  {
    title: 'an unknown check',
    spec: { ...base, checkItems: ['cpu', 'gpu'] },
    sentence: 'checkItems knows cpu, mem and disk',
  },
  {
    title: 'a negative concurrency',
    spec: { ...base, concurrency: -1 },
    sentence: 'concurrency is a number of nodes',
  },
  {
    title: 'a huge concurrency',
    spec: { ...base, concurrency: 10_001 },
    sentence: 'concurrency is a number of nodes',
  },
  {
    title: 'a concurrency beyond int32',
    spec: { ...base, concurrency: 2 ** 31 },
    sentence: 'must be of type integer with format int32',
  },
  {
    title: 'a negative timeout',
    spec: { ...base, timeoutSeconds: -1 },
    sentence: 'timeoutSeconds is a number of seconds',
  },
  {
    title: 'a timeout of a year',
    spec: { ...base, timeoutSeconds: 31_536_000 },
    sentence: 'timeoutSeconds is a number of seconds',
  },
  {
    title: 'a registry to ask for digests that is no host',
    spec: { ...base, imageDigestGatter: { registryAPI: { host: 'user@h', token: 't' } } },
    sentence: 'imageDigestGatter.registryAPI has a host such as registry.example:5000',
  },
  {
    title: 'a digest that is none',
    spec: { ...base, imageDigestGatter: { amd64: 'sha256:ABC' } },
    sentence: 'a digest is written sha256:',
  },
  {
    title: 'a platform digest that is none',
    spec: { ...base, upgradeHub: { digests: { 'linux/amd64': 'sha256:abc' } } },
    sentence: 'should match',
  },
  {
    title: 'an unknown isolation',
    spec: { ...base, upgradeHub: { isolation: 'Fence' } },
    sentence: 'supported values: "None", "Cordon", "Drain"',
  },
  {
    title: 'an unknown offline policy',
    spec: { ...base, upgradeHub: { offline: { policy: 'Retry' } } },
    sentence: 'supported values: "Skip", "Queue", "Fail"',
  },
  {
    title: 'a budget of nothing',
    spec: { ...base, upgradeHub: { maxConcurrent: 0 } },
    sentence: 'should be greater than or equal to 1',
  },
  {
    title: 'a budget of no percent',
    spec: { ...base, upgradeHub: { maxUnavailable: '0%' } },
    sentence: 'should match',
  },
  {
    title: 'a budget that is a ratio',
    spec: { ...base, upgradeHub: { prepareAhead: 0.5 } },
    sentence: 'spec.upgradeHub.prepareAhead',
  },
  {
    title: 'endless retries',
    spec: { ...base, upgradeHub: { retry: { limit: 11 } } },
    sentence: 'should be less than or equal to 10',
  },
  {
    title: 'an unknown way to fail',
    spec: { ...base, upgradeHub: { onFailure: 'Hope' } },
    sentence: 'supported values: "Stop", "Pause"',
  },
  {
    title: 'an impatient deadline',
    spec: { ...base, upgradeHub: { progressDeadlineSeconds: 5 } },
    sentence: 'should be greater than or equal to 60',
  },
  {
    title: 'two waves of one name',
    spec: { ...base, upgradeHub: { waves: [{ name: 'a' }, { name: 'a' }] } },
    sentence: 'Duplicate value',
  },
  {
    title: 'a wave with the name of the last',
    spec: { ...base, upgradeHub: { waves: [{ name: 'rest' }] } },
    sentence: 'rest is the name of the last wave',
  },
  {
    title: 'a wave without a name',
    spec: { ...base, upgradeHub: { waves: [{ size: 1 }] } },
    sentence: 'Required value',
  },
  {
    title: 'a slot that begins at no time',
    spec: { ...base, upgradeHub: { window: { slots: [{ start: '24:00', durationMinutes: 60 }] } } },
    sentence: 'should match',
  },
  {
    title: 'a slot on no day',
    spec: {
      ...base,
      upgradeHub: { window: { slots: [{ start: '01:00', durationMinutes: 60, days: ['Caturday'] }] } },
    },
    sentence: 'supported values: "Mon", "Tue"',
  },
  {
    title: 'an endless stage',
    spec: { ...base, upgradeHub: { timeouts: { checkSeconds: 604_801 } } },
    sentence: 'should be less than or equal to 604800',
  },
  {
    title: 'a requirement without a key',
    spec: bySelector({ matchExpressions: [{ operator: 'Exists' }] }),
    sentence: 'Required value',
  },
  {
    title: 'node names that are numbers',
    spec: { version: 'v1.12.0', nodeNames: [1] },
    sentence: 'must be of type string',
  },
  { title: 'a spec that is a list', spec: [], sentence: 'must be of type object' },
]

/** Specs that are accepted, KubeEdge's own samples first. */
export const GOOD_SPECS: readonly (readonly [string, unknown])[] = [
  [
    "KubeEdge's first sample",
    {
      version: 'v1.10.0',
      timeoutSeconds: 60,
      labelSelector: {
        matchLabels: { 'node-role.kubernetes.io/edge': '', 'node-role.kubernetes.io/agent': '' },
      },
    },
  ],
  [
    "KubeEdge's second sample",
    {
      version: 'v1.16.0',
      checkItems: ['cpu', 'mem', 'disk'],
      failureTolerate: '0.3',
      concurrency: 2,
      timeoutSeconds: 180,
      labelSelector: {
        matchLabels: { 'node-role.kubernetes.io/edge': '', 'node-role.kubernetes.io/agent': '' },
      },
    },
  ],
  ['the least', base],
  [
    'waves',
    {
      ...base,
      upgradeHub: {
        waves: [
          { name: 'canary', size: '1%', soakSeconds: 600 },
          {
            name: 'lab',
            labelSelector: { matchLabels: { site: 'lab' } },
            approval: 'Required',
            maxConcurrent: '50%',
          },
        ],
      },
    },
  ],
  [
    'a window',
    {
      ...base,
      upgradeHub: {
        window: {
          timeZone: 'Europe/Berlin',
          slots: [{ days: ['Sat', 'Sun'], start: '02:00', durationMinutes: 120 }],
          blackouts: [{ from: '2026-12-24', to: '2026-12-26T06:00', reason: 'Christmas' }],
        },
      },
    },
  ],
  [
    'budgets as numbers and as percentages',
    { ...base, upgradeHub: { maxConcurrent: '10%', maxUnavailable: 3, prepareAhead: '100%' } },
  ],
  [
    'zeros that mean the defaults',
    { ...base, timeoutSeconds: 0, concurrency: 0, upgradeTool: '', image: '', failureTolerate: '' },
  ],
  [
    'nulls where a field may be absent',
    { ...base, imageDigestGatter: null, labelSelector: null, upgradeHub: null },
  ],
  ['every edge node on purpose', { ...bySelector({}), upgradeHub: { allNodes: true } }],
  ['a version with build and pre-release', { ...base, version: '1.12.0-rc.1+k0s.2' }],
  [
    'an image with a port, a path and a digest',
    { ...base, image: `registry.local:5000/a/b/c@sha256:${'a'.repeat(64)}` },
  ],
  [
    'digests by platform',
    {
      ...base,
      upgradeHub: {
        digests: { 'linux/amd64': `sha256:${'0'.repeat(64)}`, 'linux/arm/v7': `sha256:${'f'.repeat(64)}` },
      },
    },
  ],
  ['an unknown field, which is dropped', { ...base, unknown: { a: 1 }, upgradeHub: { later: true } }],
]

/** Jobs that KubeEdge let somebody store, as bad as they come. */
export function storedJobs(name: string): readonly Job[] {
  return [
    job(`${name}-image`, { spec: { image: 'kubeedge/installation-package' } }),
    job(`${name}-nothing`, { spec: null }),
    job(`${name}-empty`, { spec: {} }),
    job(`${name}-version`, {
      spec: { version: 'newest', nodeNames: ['a'], labelSelector: { matchLabels: { a: 'b' } } },
    }),
    job(`${name}-finalizer`, {
      spec: { version: 'v1.12', nodeNames: ['a'], concurrency: -5, upgradeTool: 'apt' },
      metadata: { finalizers: ['kubeedge.io/nodeupgradejob-controller'] },
    }),
    job(`${name}-long`, {
      spec: { version: '1'.repeat(500), nodeNames: ['n'.repeat(300)], image: 'x'.repeat(2000) },
    }),
    job(`${name}-old`, {
      version: 'v1alpha1',
      spec: {
        version: 'v1.10.0',
        nodeNames: ['a'],
        imageDigestGatter: { value: 'x', registryAPI: { host: 'h', token: 't' } },
      },
      status: {
        phase: 'Failure',
        state: 'upgrading',
        event: 'TimeOut',
        action: 'Confirmation',
        status: [
          { nodeName: 'a', state: 'completed', history: { historyID: '1', result: 'upgrade_success' } },
        ],
        nodeStatus: [{ nodeName: 'a', state: 'Pulling', event: 'Init' }],
      },
    }),
  ]
}
