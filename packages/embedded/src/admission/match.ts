import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import type { Attributes } from './attributes.ts'
import type { Rule, Webhook } from './webhook.ts'

/** Where a request goes that a rule catches: the resource in the version that the webhook asked for. */
export type Target = Resource

/**
 * The version of the resource in which a webhook wants to see a request, or undefined when its rules do not catch it.
 * With the match policy Equivalent a rule for another version of the same resource catches it too.
 */
export function targetOf(webhook: Webhook, attributes: Attributes, registry: Registry): Target | undefined {
  const { resource } = attributes.call
  if (webhook.rules.some((rule) => catches(rule, attributes, resource))) return resource
  if (!webhook.equivalent) return undefined
  return registry
    .ofStorage(resource.storage)
    .find((other) => other !== resource && webhook.rules.some((rule) => catches(rule, attributes, other)))
}

function catches(rule: Rule, { operation, call }: Attributes, resource: Resource): boolean {
  return (
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, resource.group) &&
    includes(rule.apiVersions, resource.version) &&
    rule.resources.some((pattern) => isResource(pattern, resource.plural, call.subresource)) &&
    inScope(rule.scope, resource)
  )
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value)
}

/** `pods`, `pods/status`, `pods/*`, and the same with any resource. */
function isResource(pattern: string, plural: string, subresource: string | undefined): boolean {
  const [resource = '', sub] = pattern.split('/')
  if (resource !== '*' && resource !== plural) return false
  if (sub === undefined) return subresource === undefined
  return sub === '*' || sub === subresource
}

function inScope(scope: string, resource: Resource): boolean {
  return scope === '*' || (scope === 'Namespaced') === resource.namespaced
}
