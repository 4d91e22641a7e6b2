import type { KubeObject } from './types.ts'

declare const objectType: unique symbol

/** Where the API server serves one kind. `T` is the type of its objects; it exists for the compiler only. */
export interface Resource<T> {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  readonly [objectType]?: T
}

/** Describes a kind: `resource<Node>({ group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false })`. */
export function resource<T>(description: Omit<Resource<T>, typeof objectType>): Resource<T> {
  return description
}

/** `group/version`, or `v1` for the core group: what objects carry as `apiVersion`. */
export function apiVersionOf(of: Resource<unknown>): string {
  return of.group === '' ? of.version : `${of.group}/${of.version}`
}

/** core/v1 Node, as much of it as is read here. */
export interface Node extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Node'
  readonly spec?: { readonly unschedulable?: boolean }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly nodeInfo?: {
      readonly kubeletVersion?: string
      readonly architecture?: string
      readonly operatingSystem?: string
      readonly bootID?: string
    }
  }
}

/** coordination.k8s.io/v1 Lease. Times are MicroTime: RFC 3339 with six fraction digits. */
export interface Lease extends KubeObject {
  readonly apiVersion: 'coordination.k8s.io/v1'
  readonly kind: 'Lease'
  readonly spec?: {
    readonly holderIdentity?: string | null
    readonly leaseDurationSeconds?: number | null
    readonly acquireTime?: string | null
    readonly renewTime?: string | null
    readonly leaseTransitions?: number | null
  }
}

/** events.k8s.io/v1 Event. */
export interface Event extends KubeObject {
  readonly apiVersion: 'events.k8s.io/v1'
  readonly kind: 'Event'
  readonly eventTime: string
  readonly reportingController: string
  readonly reportingInstance: string
  readonly action: string
  readonly reason: string
  readonly type: 'Normal' | 'Warning'
  readonly note: string
  readonly regarding: ObjectReference
  readonly series?: { readonly count: number; readonly lastObservedTime: string }
}

/** core/v1 ObjectReference: what an event is about. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly namespace?: string
}

/** core/v1 Secret. Values of `data` are base64. */
export interface Secret extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Secret'
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

export interface ConfigMap extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'ConfigMap'
  readonly data?: Readonly<Record<string, string>>
}

export interface Namespace extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Namespace'
  readonly status?: { readonly phase?: string }
}

/** core/v1 Pod, as much of it as a drain reads. */
export interface Pod extends KubeObject {
  readonly apiVersion: 'v1'
  readonly kind: 'Pod'
  readonly spec?: {
    readonly nodeName?: string
    readonly terminationGracePeriodSeconds?: number
    readonly volumes?: readonly { readonly name: string; readonly emptyDir?: object }[]
  }
  readonly status?: { readonly phase?: string }
}

export interface CustomResourceDefinition extends KubeObject {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly spec: object
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly message?: string
    }[]
  }
}

/** A validating or mutating webhook configuration; only what a caBundle reconciler needs is typed. */
export interface WebhookConfiguration extends KubeObject {
  readonly apiVersion: 'admissionregistration.k8s.io/v1'
  readonly kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration'
  readonly webhooks?: readonly {
    readonly name: string
    readonly clientConfig: { readonly url?: string; readonly service?: object; readonly caBundle?: string }
  }[]
}

const core = { group: '', version: 'v1' }
const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false }

export const NODES = resource<Node>({ ...core, plural: 'nodes', kind: 'Node', namespaced: false })
export const SECRETS = resource<Secret>({ ...core, plural: 'secrets', kind: 'Secret', namespaced: true })
export const CONFIG_MAPS = resource<ConfigMap>({
  ...core,
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
})
export const NAMESPACES = resource<Namespace>({
  ...core,
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})
export const PODS = resource<Pod>({ ...core, plural: 'pods', kind: 'Pod', namespaced: true })
export const LEASES = resource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
})
export const EVENTS = resource<Event>({
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
})
export const CRDS = resource<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})
export const VALIDATING_WEBHOOKS = resource<WebhookConfiguration>({
  ...admission,
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
})
export const MUTATING_WEBHOOKS = resource<WebhookConfiguration>({
  ...admission,
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
})
