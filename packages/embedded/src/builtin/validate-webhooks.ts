import { at, isObject, type Json, listAt, objectAt, stringAt, stringsAt } from '../json.ts'
import { invalidValue, requiredValue, subdomain, unsupportedValue } from '../names.ts'
import type { KubeObject } from '../objects.ts'
import type { Cause } from '../schema/index.ts'
import { compileMatchConditions } from '../schema/index.ts'

const MAX_TIMEOUT_SECONDS = 30
const NAME_SEGMENTS = 3
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

/** Fields that know a few words only, with the words in the order in which a refusal lists them. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  failurePolicy: ['Fail', 'Ignore'],
  matchPolicy: ['Equivalent', 'Exact'],
  sideEffects: ['None', 'NoneOnDryRun'],
  reinvocationPolicy: ['IfNeeded', 'Never'],
}

/** The rules of a webhook configuration that the server relies on when it calls. */
export function validateWebhooks(config: KubeObject): readonly Cause[] {
  const webhooks = listAt(config, 'webhooks')
  return [
    ...webhooks.flatMap((webhook, i) => webhookCauses(webhook, `webhooks[${i}]`)),
    ...duplicateNames(webhooks, 'webhooks'),
  ]
}

function duplicateNames(items: readonly Json[], path: string): readonly Cause[] {
  const names = items.map((item) => stringAt(item, 'name'))
  return names.flatMap((name, i) => {
    if (names.indexOf(name) === i) return []
    const message = `Duplicate value: ${JSON.stringify(name)}`
    return [{ reason: 'FieldValueDuplicate' as const, message, field: `${path}[${i}].name` }]
  })
}

function webhookCauses(webhook: Json, path: string): readonly Cause[] {
  const timeout = at(webhook, 'timeoutSeconds')
  const badTimeout = typeof timeout === 'number' && (timeout < 1 || timeout > MAX_TIMEOUT_SECONDS)
  return [
    ...nameCauses(stringAt(webhook, 'name'), `${path}.name`),
    ...listAt(webhook, 'rules').flatMap((rule, i) => ruleCauses(rule, `${path}.rules[${i}]`)),
    ...choiceCauses(webhook, path),
    ...(badTimeout
      ? [
          invalidValue(
            `${path}.timeoutSeconds`,
            timeout,
            'the timeout value must be between 1 and 30 seconds',
          ),
        ]
      : []),
    ...reviewCauses(webhook, path),
    ...clientCauses(objectAt(webhook, 'clientConfig'), `${path}.clientConfig`),
    ...conditionCauses(webhook, path),
    ...duplicateNames(listAt(webhook, 'matchConditions'), `${path}.matchConditions`),
  ]
}

function nameCauses(name: string, path: string): readonly Cause[] {
  if (!name) return [requiredValue(path)]
  const short = name.split('.').length < NAME_SEGMENTS
  const why = 'should be a domain with at least three segments separated by dots'
  return [
    ...subdomain(name).map((problem) => invalidValue(path, name, problem)),
    ...(short ? [invalidValue(path, name, why)] : []),
  ]
}

function ruleCauses(rule: Json, path: string): readonly Cause[] {
  const empty = ['operations', 'apiGroups', 'apiVersions', 'resources'].filter(
    (field) => listAt(rule, field).length === 0,
  )
  const odd = stringsAt(rule, 'operations').flatMap((operation, i) => {
    if (OPERATIONS.includes(operation)) return []
    return [unsupportedValue(`${path}.operations[${i}]`, JSON.stringify(operation), OPERATIONS)]
  })
  return [...empty.map((field) => requiredValue(`${path}.${field}`)), ...odd]
}

function choiceCauses(webhook: Json, path: string): readonly Cause[] {
  return Object.entries(CHOICES).flatMap(([field, words]) => {
    const value = stringAt(webhook, field)
    const isFine = words.includes(value) || (value === '' && field !== 'sideEffects')
    return isFine ? [] : [unsupportedValue(`${path}.${field}`, JSON.stringify(value), words)]
  })
}

function reviewCauses(webhook: Json, path: string): readonly Cause[] {
  const versions = listAt(webhook, 'admissionReviewVersions')
  const field = `${path}.admissionReviewVersions`
  if (versions.length === 0) return [requiredValue(field, 'must specify one of v1, v1beta1')]
  if (versions.includes('v1')) return []
  return [invalidValue(field, JSON.stringify(versions), 'must include at least one of v1, v1beta1')]
}

function clientCauses(client: Json, path: string): readonly Cause[] {
  const url = stringAt(client, 'url')
  const service = at(client, 'service')
  if ((url === '') === !isObject(service))
    return [requiredValue(path, 'exactly one of url or service is required')]
  const scheme = URL.parse(url)?.protocol.replace(/:$/, '')
  if (!url || scheme === 'https') return []
  const why = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
  return [invalidValue(`${path}.url`, scheme ?? '', why)]
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
    const field = `${path}.matchConditions[${index}].expression`
    return invalidValue(field, expression, `compilation failed: ${problem}`)
  })
}
