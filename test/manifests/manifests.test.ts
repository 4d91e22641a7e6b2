import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { HUB_NAMESPACE } from '@upgrade-hub/api'
import { PORTS } from '@upgrade-hub/protocol'
import { describe, expect, it } from 'vitest'
import { MANIFESTS, type Manifest, named, render } from './render.ts'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

interface PodSpec {
  readonly [key: string]: unknown
  readonly containers: readonly {
    readonly image: string
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
    readonly resources: Readonly<Record<'requests' | 'limits', Readonly<Record<string, string>>>>
    readonly securityContext: unknown
  }[]
  readonly volumes: readonly Readonly<Record<string, unknown>>[]
}

interface Webhook {
  readonly clientConfig: {
    readonly service: { readonly name: string; readonly namespace: string; readonly path: string }
  }
  readonly rules: readonly Readonly<Record<string, unknown>>[]
  readonly matchConditions: readonly unknown[]
  readonly failurePolicy: string
}

const manifests = render()
const roles = manifests.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
const grants = roles.flatMap((role) =>
  rulesOf(role).map((rule) => ({ role: role.metadata.name, kind: role.kind, ...rule })),
)
const deployment = named(manifests, 'Deployment', 'cloudhub', HUB_NAMESPACE)
const { replicas, template } = deployment['spec'] as { replicas: number; template: { spec: PodSpec } }
const pod = template.spec
const webhooks = manifests.filter(({ kind }) => kind.endsWith('WebhookConfiguration'))

function rulesOf(role: Manifest): readonly Rule[] {
  return role['rules'] as readonly Rule[]
}

describe('the manifests', () => {
  it('install every CRD that is generated', () => {
    const files = readdirSync(join(MANIFESTS, 'crds')).map((file) => file.replace(/\.yaml$/, ''))
    const installed = manifests
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(({ metadata }) => metadata.name)
    expect(installed.toSorted()).toEqual(files.toSorted())
  })

  it('belong to their namespace and say whose they are', () => {
    for (const { kind, metadata } of manifests) {
      expect(metadata.labels, `${kind} ${metadata.name}`).toMatchObject({
        'app.kubernetes.io/part-of': 'upgrade-hub',
      })
    }
    const namespaces = new Set(manifests.flatMap(({ metadata }) => metadata.namespace ?? []))
    expect(namespaces).toEqual(new Set(['default', 'kube-node-lease', HUB_NAMESPACE]))
  })
})

describe('the pods of the hub (S20)', () => {
  it('run as nobody, on a read-only file system, without capabilities', () => {
    expect(pod['securityContext']).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    for (const container of pod.containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  })

  it('share nothing with their host', () => {
    for (const key of ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'])
      expect(pod).not.toHaveProperty(key)
    expect(pod.volumes.filter((volume) => 'hostPath' in volume)).toEqual([])
  })

  it('have bounds on memory and processor', () => {
    for (const { resources } of pod.containers) {
      expect(Object.keys(resources.requests)).toEqual(['cpu', 'memory'])
      expect(Object.keys(resources.limits)).toEqual(['cpu', 'memory'])
    }
  })

  it('get a token, which nobody else in the namespace does by default', () => {
    expect(pod['automountServiceAccountToken']).toBe(true)
    expect(
      named(manifests, 'ServiceAccount', 'cloudhub', HUB_NAMESPACE)['automountServiceAccountToken'],
    ).toBe(false)
  })

  it('run an image of a stated version, never of a moving tag', () => {
    for (const { image } of pod.containers) expect(image).toMatch(/:\d+\.\d+\.\d+$|@sha256:/)
  })

  it('are two, of which an eviction takes one at most', () => {
    expect(replicas).toBe(2)
    expect(named(manifests, 'PodDisruptionBudget', 'cloudhub', HUB_NAMESPACE)['spec']).toMatchObject({
      maxUnavailable: 1,
    })
  })

  it('live in a namespace that admits restricted pods only, behind a default deny', () => {
    const { labels } = named(manifests, 'Namespace', HUB_NAMESPACE).metadata
    expect(labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    expect(named(manifests, 'NetworkPolicy', 'default-deny', HUB_NAMESPACE)['spec']).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    })
  })

  it('listen where the edges dial', () => {
    const ports = Object.fromEntries(
      pod.containers.flatMap((one) => one.ports.map((port) => [port.name, port.containerPort])),
    )
    expect(ports).toMatchObject({ websocket: PORTS.websocket, https: PORTS.https })
    const service = named(manifests, 'Service', 'cloudhub', HUB_NAMESPACE)['spec'] as { ports: unknown[] }
    expect(service.ports).toEqual([
      { name: 'websocket', port: PORTS.websocket, targetPort: 'websocket', nodePort: 30010 },
      { name: 'https', port: PORTS.https, targetPort: 'https', nodePort: 30012 },
    ])
  })
})

describe('rights (S20)', () => {
  it('never hold a wildcard, nor a way to more rights', () => {
    for (const { role, apiGroups, resources, verbs } of grants) {
      expect([...apiGroups, ...resources, ...verbs], role).not.toContain('*')
      for (const verb of ['escalate', 'bind', 'impersonate', 'deletecollection'])
        expect(verbs, role).not.toContain(verb)
      for (const resource of ['pods/exec', 'serviceaccounts/token', 'clusterroles', 'clusterrolebindings']) {
        expect(resources, role).not.toContain(resource)
      }
    }
  })

  it('reach Secrets in one namespace only, and never list them', () => {
    const secrets = roles.filter((role) =>
      rulesOf(role).some(({ resources }) => resources.includes('secrets')),
    )
    expect(secrets.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([['Role', HUB_NAMESPACE]])
    const verbs = grants
      .filter(({ resources }) => resources.includes('secrets'))
      .flatMap((rule) => rule.verbs)
    expect(verbs).not.toContain('list')
    expect(verbs).not.toContain('watch')
  })

  it('let the hub cordon nodes and never delete them', () => {
    const onNodes = grants.filter(({ resources }) => resources.includes('nodes'))
    expect(onNodes.map(({ role, verbs }) => ({ role, verbs }))).toEqual([
      { role: 'upgradehub-cloudhub', verbs: ['get', 'list', 'watch', 'create', 'patch'] },
    ])
  })

  it('let the hub touch its own webhook configurations, by name', () => {
    const onWebhooks = grants.filter(({ resources }) =>
      resources.some((name) => name.endsWith('webhookconfigurations')),
    )
    expect(onWebhooks).toMatchObject([
      { resourceNames: webhooks.map(({ metadata }) => metadata.name).slice(0, 1) },
    ])
  })

  it('aggregate into nothing but the reading of tasks', () => {
    const aggregated = roles.filter(({ metadata }) =>
      Object.keys(metadata.labels ?? {}).some((label) => label.includes('aggregate-to')),
    )
    expect(aggregated.map((role) => rulesOf(role))).toEqual([
      [{ apiGroups: ['upgradehub.io'], resources: ['nodeupgradetasks'], verbs: ['get', 'list', 'watch'] }],
    ])
  })
})

describe('the webhooks', () => {
  const all = webhooks.flatMap((one) =>
    (one['webhooks'] as Webhook[]).map((webhook) => ({ kind: one.kind, ...webhook })),
  )

  it('ask about the creation and change of our job in every version, and about nothing else', () => {
    expect(all).toHaveLength(2)
    for (const { rules } of all) {
      expect(rules).toEqual([
        {
          apiGroups: ['operations.kubeedge.io'],
          apiVersions: ['v1alpha1', 'v1alpha2'],
          resources: ['nodeupgradejobs'],
          operations: ['CREATE', 'UPDATE'],
          scope: 'Cluster',
        },
      ])
    }
  })

  it('cannot hold up the API server', () => {
    for (const webhook of all) {
      expect(webhook).toMatchObject({ timeoutSeconds: 5, sideEffects: 'None', matchPolicy: 'Equivalent' })
      expect(webhook.matchConditions).toHaveLength(1)
    }
    const policies = all.map(({ kind, failurePolicy }) => [kind, failurePolicy])
    expect(policies).toEqual([
      ['ValidatingWebhookConfiguration', 'Fail'],
      ['MutatingWebhookConfiguration', 'Ignore'],
    ])
  })

  it('are reached through a Service that is there', () => {
    for (const { clientConfig } of all) {
      expect(() =>
        named(manifests, 'Service', clientConfig.service.name, clientConfig.service.namespace),
      ).not.toThrow()
    }
  })
})
