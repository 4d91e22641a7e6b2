import { equal, type Json, listAt, objectAt, stringAt } from '../json.ts'
import {
  dnsLabel,
  forbiddenValue,
  invalidValue,
  qualifiedName,
  requiredValue,
  unsupportedValue,
} from '../names.ts'
import type { KubeObject } from '../objects.ts'
import type { Strategy } from '../registry/resource.ts'
import type { Cause } from '../schema/index.ts'

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

/** Several rules as one. */
export function all(
  ...rules: readonly NonNullable<Strategy['validate']>[]
): NonNullable<Strategy['validate']> {
  return (object, old, subresource) => rules.flatMap((rule) => rule(object, old, subresource))
}

const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/
const CONFIG_KEY_WORDS =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

/** The keys of data can be names of files. */
export function validateKeys(...fields: readonly string[]): NonNullable<Strategy['validate']> {
  return (object) =>
    fields.flatMap((field) =>
      Object.keys(objectAt(object, field))
        .filter((key) => !CONFIG_KEY.test(key))
        .map((key) => invalidValue(`${field}[${key}]`, key, CONFIG_KEY_WORDS)),
    )
}

/** A TLS secret has both halves. */
export function validateSecret(secret: KubeObject): readonly Cause[] {
  if (secret['type'] !== 'kubernetes.io/tls') return []
  const data = objectAt(secret, 'data')
  return ['tls.crt', 'tls.key'].filter((key) => !(key in data)).map((key) => requiredValue(`data[${key}]`))
}

const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function validateNode(node: KubeObject): readonly Cause[] {
  return listAt(node, 'spec', 'taints').flatMap((taint, i) => {
    const path = `metadata.taints[${i}]`
    const key = stringAt(taint, 'key')
    const effect = stringAt(taint, 'effect')
    const effectCauses = effect
      ? [unsupportedValue(`${path}.effect`, JSON.stringify(effect), TAINT_EFFECTS)]
      : [requiredValue(`${path}.effect`)]
    return [
      ...qualifiedName(key).map((problem) => invalidValue(`${path}.key`, key, problem)),
      ...(TAINT_EFFECTS.includes(effect) ? [] : effectCauses),
    ]
  })
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
