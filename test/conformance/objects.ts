/** Paths and objects that the scripts share. */
export const JOBS = '/apis/operations.kubeedge.io/v1alpha2/nodeupgradejobs'
export const JOBS_V1ALPHA1 = '/apis/operations.kubeedge.io/v1alpha1/nodeupgradejobs'
export const TASKS = '/apis/upgradehub.io/v1alpha1/nodeupgradetasks'
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export const MERGE = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'
export const STRATEGIC = 'application/strategic-merge-patch+json'

export interface JobParts {
  readonly spec?: unknown
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly version?: 'v1alpha1' | 'v1alpha2'
  readonly [part: string]: unknown
}

export interface Job {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] }
  readonly spec?: unknown
  readonly status?: unknown
}

/** A good job unless the parts say otherwise; `spec: null` leaves it out. */
export function job(name: string, { metadata = {}, version = 'v1alpha2', ...parts }: JobParts = {}): Job {
  const spec = parts.spec === undefined ? { version: 'v1.12.0', nodeNames: ['edge-1'] } : parts.spec
  const { spec: _, ...rest } = parts
  return {
    apiVersion: `operations.kubeedge.io/${version}`,
    kind: 'NodeUpgradeJob',
    metadata: { name, ...metadata },
    ...(spec === null ? {} : { spec }),
    ...rest,
  }
}

const TIMEOUTS = {
  checkSeconds: 60,
  downloadSeconds: 0,
  confirmSeconds: 86_400,
  upgradeSeconds: 0,
  rollbackSeconds: 300,
  verifySeconds: 120,
}

/** A task that nothing is wrong with. */
export function task(name: string, nodeName = 'edge-1') {
  return {
    apiVersion: 'upgradehub.io/v1alpha1',
    kind: 'NodeUpgradeTask',
    metadata: { name },
    spec: {
      owner: {
        apiVersion: 'operations.kubeedge.io/v1alpha2',
        kind: 'NodeUpgradeJob',
        name: 'job',
        uid: 'u-1',
      },
      jobName: 'job',
      jobSpecHash: 'abc',
      nodeName,
      nodeUID: 'n-1',
      purpose: 'Upgrade',
      component: 'edgecore',
      order: 0,
      verdict: 'Run',
      tool: 'keadm',
      version: 'v1.12.0',
      image: 'docker.io/kubeedge/installation-package:v1.12.0',
      versionPolicy: 'UpgradeOnly',
      timeouts: TIMEOUTS,
      minReadySeconds: 10,
    },
  }
}
