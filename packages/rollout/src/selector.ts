import type { LabelSelector } from '@upgrade-hub/api'

type Labels = Readonly<Record<string, string>>
type Requirement = NonNullable<LabelSelector['matchExpressions']>[number]

/** Whether labels meet a selector; an empty selector matches everything, an unknown operator nothing. */
export function matchesSelector(labels: Labels, selector: LabelSelector): boolean {
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every((requirement) => meets(labels, requirement))
  )
}

/** True when the selector asks for nothing. */
export function isEmptySelector(selector: LabelSelector): boolean {
  return (
    Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
  )
}

/** What is wrong with a selector, as the API server would say it of a Deployment's; undefined when it is fine. */
export function selectorProblem(selector: LabelSelector): string | undefined {
  return (selector.matchExpressions ?? []).map(requirementProblem).find((problem) => problem !== undefined)
}

/** As Kubernetes: `NotIn` also matches where the label is absent. */
function meets(labels: Labels, { key, operator, values = [] }: Requirement): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}

function requirementProblem({ key, operator, values = [] }: Requirement): string | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? undefined : `labelSelector: ${key}: values must be given with ${operator}`
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? undefined
        : `labelSelector: ${key}: values may not be given with ${operator}`
    default:
      return `labelSelector: ${key}: ${operator} is not a selector operator`
  }
}
