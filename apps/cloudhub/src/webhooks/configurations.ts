import { HUB_NAMESPACE, JOB_VERSIONS, KUBEEDGE_GROUP } from '@upgrade-hub/api'
import type { WebhookConfiguration } from '@upgrade-hub/kube'

/** Where the API server calls: a Service in a cluster, an address where there are none. */
export type Target = { readonly service: string } | { readonly url: string }

export const VALIDATE_PATH = '/nodeupgradejobs'
export const MUTATE_PATH = '/mutating/nodeupgradejobs'
const OWN_WEBHOOK = /\.upgradehub\.io$/

/** Our webhooks have names of our domain; whatever else somebody put into the object is theirs. */
export function isOwnWebhook(name: string): boolean {
  return OWN_WEBHOOK.test(name)
}

/** KubeEdge's path and policy, for both versions and never for status, deletion, nodes or leases. */
export function validatingConfiguration(
  name: string,
  target: Target,
  caBundle: string,
): WebhookConfiguration {
  const webhook = {
    ...common(target, VALIDATE_PATH, caBundle),
    name: 'nodeupgradejobs.validating.upgradehub.io',
    matchConditions: [
      {
        name: 'spec-or-approvals-are-new-or-changed',
        expression:
          "request.operation == 'CREATE' || object.?spec != oldObject.?spec || object.?control.?approvals != oldObject.?control.?approvals",
      },
    ],
    failurePolicy: 'Fail',
  }
  return configuration('ValidatingWebhookConfiguration', name, webhook)
}

export function mutatingConfiguration(name: string, target: Target, caBundle: string): WebhookConfiguration {
  const webhook = {
    ...common(target, MUTATE_PATH, caBundle),
    name: 'nodeupgradejobs.mutating.upgradehub.io',
    matchConditions: [
      { name: 'has-approvals', expression: 'has(object.control) && has(object.control.approvals)' },
    ],
    reinvocationPolicy: 'Never',
    failurePolicy: 'Ignore',
  }
  return configuration('MutatingWebhookConfiguration', name, webhook)
}

type Webhook = NonNullable<WebhookConfiguration['webhooks']>[number]

function configuration(
  kind: WebhookConfiguration['kind'],
  name: string,
  webhook: Webhook,
): WebhookConfiguration {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name, labels: { 'app.kubernetes.io/part-of': 'upgrade-hub' } },
    webhooks: [webhook],
  } as WebhookConfiguration
}

function common(target: Target, path: string, caBundle: string) {
  const address =
    'url' in target
      ? { url: `${target.url}${path}` }
      : { service: { namespace: HUB_NAMESPACE, name: target.service, path, port: 443 } }
  return {
    admissionReviewVersions: ['v1'],
    clientConfig: { ...address, ...(caBundle === '' ? {} : { caBundle }) },
    rules: [
      {
        apiGroups: [KUBEEDGE_GROUP],
        apiVersions: [...JOB_VERSIONS],
        resources: ['nodeupgradejobs'],
        operations: ['CREATE', 'UPDATE'],
        scope: 'Cluster',
      },
    ],
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds: 5,
  }
}
