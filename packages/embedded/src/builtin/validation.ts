import { at, equal, isObject, type Json, listAt, objectAt, stringAt } from '../json.ts'
import {
  dnsLabel,
  forbiddenValue,
  invalidValue,
  requiredValue,
  subdomain,
  unsupportedValue,
} from '../names.ts'
import type { KubeObject } from '../objects.ts'
import type { Strategy } from '../registry/resource.ts'
import type { Cause } from '../schema/index.ts'
import { compileMatchConditions } from '../schema/index.ts'

/** `immutable: true` freezes some fields for ever; other fields are frozen from the start. */
export function immutableWhen(
  fields: readonly string[],
  ...always: readonly string[]
): NonNullable<Strategy['validate']> {
  return (object, old) => {
    if (!old) return []
    const frozen = always
      .filter((field) => !equal(object[field], old[field]))
      .map((field) => invalidValue(field, object[field], 'field is immutable'))
    if (old['immutable'] !== true) return frozen
    const changed = [...fields, 'immutable'].filter((field) => !equal(object[field], old[field]))
    return [
      ...frozen,
      ...changed.map((field) => forbiddenValue(field, 'field is immutable when `immutable` is set')),
    ]
  }
}

/** A Pod runs something, and once it exists only what a kubelet can follow may change. */
export function validatePod(pod: KubeObject, old: KubeObject | undefined): readonly Cause[] {
  const containers = listAt(pod, 'spec', 'containers')
  if (containers.length === 0) return [requiredValue('spec.containers')]
  const causes = containers.flatMap((container, i) => containerCauses(container, `spec.containers[${i}]`))
  return old ? [...causes, ...podChangeCauses(pod, old)] : causes
}

function containerCauses(container: Json, path: string): readonly Cause[] {
  const name = stringAt(container, 'name')
  return [
    ...(name
      ? dnsLabel(name).map((problem) => invalidValue(`${path}.name`, name, problem))
      : [requiredValue(`${path}.name`)]),
    ...(stringAt(container, 'image') ? [] : [requiredValue(`${path}.image`)]),
  ]
}

const MUTABLE_POD_FIELDS = new Set([
  ...['containers', 'initContainers', 'activeDeadlineSeconds', 'terminationGracePeriodSeconds'],
  ...['tolerations', 'ephemeralContainers', 'schedulingGates'],
])

function podChangeCauses(pod: KubeObject, old: KubeObject): readonly Cause[] {
  const spec = objectAt(pod, 'spec')
  const before = objectAt(old, 'spec')
  const changed = [...new Set([...Object.keys(spec), ...Object.keys(before)])].filter(
    (field) => !MUTABLE_POD_FIELDS.has(field) && !equal(spec[field], before[field]),
  )
  // The binding of a Pod to its node is written once.
  if (changed.length === 0 || (changed.length === 1 && changed[0] === 'nodeName' && !before['nodeName']))
    return []
  const fields = [...MUTABLE_POD_FIELDS].slice(2, 5).map((field) => `\`spec.${field}\``)
  const why = `pod updates may not change fields other than \`spec.containers[*].image\`,${fields.join(',')}`
  return [forbiddenValue('spec', why)]
}

export function validateLease(lease: KubeObject): readonly Cause[] {
  const spec = objectAt(lease, 'spec')
  return [
    ...positive(spec['leaseDurationSeconds'], 'spec.leaseDurationSeconds', 1),
    ...positive(spec['leaseTransitions'], 'spec.leaseTransitions', 0),
    ...(spec['holderIdentity'] === '' ? [invalidValue('spec.holderIdentity', '', 'must not be empty')] : []),
  ]
}

function positive(value: Json | undefined, field: string, least: number): readonly Cause[] {
  if (typeof value !== 'number' || value >= least) return []
  return [
    invalidValue(field, value, least > 0 ? 'must be greater than 0' : 'must be greater than or equal to 0'),
  ]
}

const MAX_TIMEOUT_SECONDS = 30

/** The rules of a webhook configuration that the server relies on when it calls. */
export function validateWebhooks(config: KubeObject): readonly Cause[] {
  const webhooks = listAt(config, 'webhooks')
  const names = webhooks.map((webhook) => stringAt(webhook, 'name'))
  return webhooks.flatMap((webhook, i) => [
    ...webhookCauses(webhook, `webhooks[${i}]`),
    ...(names.indexOf(names[i] ?? '') < i ? [duplicateName(`webhooks[${i}].name`, names[i] ?? '')] : []),
  ])
}

function duplicateName(field: string, name: string): Cause {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(name)}`, field }
}

function webhookCauses(webhook: Json, path: string): readonly Cause[] {
  const name = stringAt(webhook, 'name')
  const timeout = at(webhook, 'timeoutSeconds')
  const badTimeout = typeof timeout === 'number' && (timeout < 1 || timeout > MAX_TIMEOUT_SECONDS)
  return [
    ...(name
      ? subdomain(name).map((p) => invalidValue(`${path}.name`, name, p))
      : [requiredValue(`${path}.name`)]),
    ...(name && name.split('.').length < 3
      ? [
          invalidValue(
            `${path}.name`,
            name,
            'should be a domain with at least three segments separated by dots',
          ),
        ]
      : []),
    ...reviewCauses(webhook, path),
    ...clientCauses(objectAt(webhook, 'clientConfig'), `${path}.clientConfig`),
    ...(badTimeout
      ? [
          invalidValue(
            `${path}.timeoutSeconds`,
            timeout,
            'the timeout value must be between 1 and 30 seconds',
          ),
        ]
      : []),
    ...conditionCauses(webhook, path),
  ]
}

function reviewCauses(webhook: Json, path: string): readonly Cause[] {
  const versions = listAt(webhook, 'admissionReviewVersions')
  const effects = stringAt(webhook, 'sideEffects')
  const versionsField = `${path}.admissionReviewVersions`
  const supported = versions.length === 0 || versions.includes('v1')
  return [
    ...(versions.length === 0 ? [requiredValue(versionsField, 'must specify one of v1, v1beta1')] : []),
    ...(supported ? [] : [invalidValue(versionsField, versions, 'must include at least one of v1, v1beta1')]),
    ...(effects === 'None' || effects === 'NoneOnDryRun'
      ? []
      : [unsupportedValue(`${path}.sideEffects`, JSON.stringify(effects), ['None', 'NoneOnDryRun'])]),
  ]
}

function clientCauses(client: Json, path: string): readonly Cause[] {
  const url = stringAt(client, 'url')
  const service = at(client, 'service')
  if ((url === '') === !isObject(service))
    return [requiredValue(path, 'exactly one of url or service is required')]
  if (!url || URL.parse(url)?.protocol === 'https:') return []
  return [
    invalidValue(
      `${path}.url`,
      url,
      "'https' is the only allowed URL scheme; desired format: https://host[/path]",
    ),
  ]
}

function conditionCauses(webhook: Json, path: string): readonly Cause[] {
  const conditions = listAt(webhook, 'matchConditions').map((condition) => ({
    name: stringAt(condition, 'name'),
    expression: stringAt(condition, 'expression'),
  }))
  const { problems } = compileMatchConditions(conditions)
  return problems.map(({ name, problem }) => {
    const index = conditions.findIndex((condition) => condition.name === name)
    const { expression = '' } = conditions[index] ?? {}
    return invalidValue(
      `${path}.matchConditions[${index}].expression`,
      expression,
      `compilation failed: ${problem}`,
    )
  })
}
