import { invariant } from '@upgrade-hub/core'
import type { Resource } from './resources.ts'

/** The path of a kind, or of a kind in a namespace. */
export function collectionPath(of: Resource<unknown>, namespace?: string): string {
  const root = of.group === '' ? `/api/${of.version}` : `/apis/${of.group}/${of.version}`
  const inside = of.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : ''
  return `${root}${inside}/${of.plural}`
}

/** The path for a create: a namespaced kind needs its namespace. */
export function creationPath(of: Resource<unknown>, namespace?: string): string {
  invariant(!of.namespaced || namespace !== undefined, `${of.plural} need a namespace`)
  return collectionPath(of, namespace)
}

/** The path of one object, optionally of a subresource of it. */
export function objectPath(
  of: Resource<unknown>,
  name: string,
  where: { namespace?: string; subresource?: string },
): string {
  const below = where.subresource === undefined ? '' : `/${segment(where.subresource)}`
  return `${creationPath(of, where.namespace)}/${segment(name)}${below}`
}

/** `?a=1&b=2` of what is set, or ''. */
export function queryString(
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  let text = ''
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) continue
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`
  }
  return text
}

/** An empty name would turn the deletion of one object into that of all: it must never reach a path. */
function segment(text: string): string {
  invariant(text !== '' && text !== '.' && text !== '..', `${JSON.stringify(text)} is no name of an object`)
  return encodeURIComponent(text)
}
