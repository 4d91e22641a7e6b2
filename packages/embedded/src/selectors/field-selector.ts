import { badRequest } from '../errors.ts'
import type { KubeObject } from '../objects.ts'
import type { Resource } from '../registry/resource.ts'

interface Term {
  readonly field: string
  readonly value: string
  readonly equal: boolean
}

export interface FieldMatcher {
  matches(object: KubeObject): boolean
  /** The one name that can match, so that a list need not look at the others. */
  readonly name?: string
  readonly isEmpty: boolean
}

const META_FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace']
const TERM = /^((?:[^=!,\\]|\\.)+?)(==|=|!=)((?:[^,\\]|\\.)*)$/
const MAX_LENGTH = 16 * 1024

/** Parses `metadata.name=x,spec.nodeName!=y`. Throws 400 for a field that the resource does not select by. */
export function parseFieldSelector(text: string, resource: Resource): FieldMatcher {
  if (text.length > MAX_LENGTH) throw badRequest('the field selector is too long')
  const terms = splitTerms(text).map((term) => parseTerm(term, resource))
  const name = terms.find((term) => term.field === 'metadata.name' && term.equal)?.value
  return {
    matches: (object) => matchesAll(object, terms, resource),
    isEmpty: terms.length === 0,
    ...(name === undefined ? {} : { name }),
  }
}

/** Splits at commas that are not escaped. */
function splitTerms(text: string): readonly string[] {
  return (text.match(/(?:[^,\\]|\\.)+/g) ?? []).filter((term) => term !== '')
}

function parseTerm(text: string, resource: Resource): Term {
  const match = TERM.exec(text)
  if (!match) throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`)
  const [, field = '', operator, raw = ''] = match
  if (!META_FIELDS.includes(field) && !resource.fields.includes(field)) {
    throw badRequest(`field label not supported: ${field}`)
  }
  return { field, value: raw.replaceAll(/\\(.)/g, '$1'), equal: operator !== '!=' }
}

function matchesAll(object: KubeObject, terms: readonly Term[], resource: Resource): boolean {
  if (terms.length === 0) return true
  const own = terms.some((term) => !META_FIELDS.includes(term.field)) ? resource.fieldsOf(object) : {}
  return terms.every(({ field, value, equal }) => (valueOf(object, field, own) === value) === equal)
}

function valueOf(object: KubeObject, field: string, own: Readonly<Record<string, string>>): string {
  if (field === 'metadata.name') return object.metadata.name
  if (field === 'metadata.namespace') return object.metadata.namespace ?? ''
  return own[field] ?? ''
}
