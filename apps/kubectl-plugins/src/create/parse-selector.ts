import type { LabelSelector } from '@upgrade-hub/api'

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number]

const KEY = String.raw`[A-Za-z0-9]([A-Za-z0-9._/-]{0,315}[A-Za-z0-9])?`
const VALUE = String.raw`([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?`
const EQUALITY = new RegExp(`^(?<key>${KEY})\\s*(?<operator>==?|!=)\\s*(?<value>${VALUE})$`)
const SET = new RegExp(`^(?<key>${KEY})\\s+(?<operator>in|notin)\\s*\\((?<values>[^()]*)\\)$`)
const EXISTS = new RegExp(`^(?<not>!?)\\s*(?<key>${KEY})$`)
const ONE_VALUE = new RegExp(`^${VALUE}$`)
const MAX_LENGTH = 8_192

/**
 * A selector as `kubectl get -l` takes it; undefined for what is none, and for an empty one, which means another thing to
 * everybody.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
 */
export function parseSelector(text: string): LabelSelector | undefined {
  if (text.length > MAX_LENGTH) return undefined
  // A comma between parentheses separates values.
  const parts = text.split(/,(?![^(]*\))/).map((part) => part.trim())
  const labels: Record<string, string> = {}
  const expressions: Requirement[] = []
  for (const part of parts) {
    const equal = EQUALITY.exec(part)?.groups
    if (equal && equal['operator'] !== '!=' && !Object.hasOwn(labels, equal['key'] ?? '')) {
      labels[equal['key'] ?? ''] = equal['value'] ?? ''
      continue
    }
    const requirement = parseRequirement(part)
    if (!requirement) return undefined
    expressions.push(requirement)
  }
  return {
    ...(Object.keys(labels).length > 0 ? { matchLabels: labels } : {}),
    ...(expressions.length > 0 ? { matchExpressions: expressions } : {}),
  }
}

function parseRequirement(part: string): Requirement | undefined {
  const equal = EQUALITY.exec(part)?.groups
  if (equal) {
    const operator = equal['operator'] === '!=' ? 'NotIn' : 'In'
    return { key: equal['key'] ?? '', operator, values: [equal['value'] ?? ''] }
  }
  const set = SET.exec(part)?.groups
  if (set) {
    const values = (set['values'] ?? '').split(',').map((value) => value.trim())
    if (!values.every((value) => ONE_VALUE.test(value))) return undefined
    return { key: set['key'] ?? '', operator: set['operator'] === 'in' ? 'In' : 'NotIn', values }
  }
  const exists = EXISTS.exec(part)?.groups
  if (!exists) return undefined
  return { key: exists['key'] ?? '', operator: exists['not'] ? 'DoesNotExist' : 'Exists' }
}
