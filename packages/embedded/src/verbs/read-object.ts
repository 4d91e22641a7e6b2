import { badRequest, DecodeError, invalid, type StatusError } from '../errors.ts'
import type { Call } from '../http/call.ts'
import type { FieldValidation } from '../http/options.ts'
import { excerpt, parsePayload, unrecognized } from '../http/payload.ts'
import { isArray, isObject, type Json, type JsonObject, stringAt, textOf } from '../json.ts'
import { invalidValue } from '../names.ts'
import { type KubeObject, withMeta, withType } from '../objects.ts'
import { groupVersion, type Resource } from '../registry/resource.ts'

/** The object of a create or an update, typed, pruned and with defaults. Throws 400, 413 and 415. */
export async function readObject(call: Call, validation: FieldValidation): Promise<KubeObject> {
  const { resource } = call
  const { value, duplicates, shown } = parsePayload(await call.body(), call.headers['content-type'], resource)
  checkType(value, shown, resource)
  return decode(call, value === null ? {} : (value as JsonObject), { validation, duplicates })
}

/** A body names the type that the path names; built-in kinds may leave it out. */
function checkType(value: Json, shown: string, resource: Resource): void {
  if (value === null && !resource.custom) return
  if (!isObject(value)) {
    const found = isArray(value) ? 'array' : typeof value
    throw unrecognized(resource.kind, shown, `json: cannot unmarshal ${found} into Go value`)
  }
  const { apiVersion = '', kind = '' } = value
  const expected = groupVersion(resource)
  if (resource.custom && (kind === '' || apiVersion === '')) {
    const missing = kind === '' ? 'Kind' : 'apiVersion'
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object '${missing}' is missing in '${shown}' (${excerpt(shown)})`,
    )
  }
  if (kind !== '' && kind !== resource.kind) {
    if (resource.custom) throw otherKind(textOf(kind), value, resource)
    throw badRequest(unregistered(textOf(kind), textOf(apiVersion) || expected, resource))
  }
  if (apiVersion !== '' && apiVersion !== expected) {
    if (!resource.custom) throw badRequest(unregistered(resource.kind, textOf(apiVersion), resource))
    throw badRequest(
      `the API version in the data (${textOf(apiVersion)}) does not match the expected API version (${expected})`,
    )
  }
}

function otherKind(kind: string, value: JsonObject, resource: Resource): StatusError {
  const cause = invalidValue('kind', kind, `must be ${resource.kind}`)
  return invalid({ ...resource, kind }, stringAt(value, 'metadata', 'name'), [cause])
}

function unregistered(kind: string, apiVersion: string, resource: Resource): string {
  return unhandled(kind, resource, `no kind "${kind}" is registered for version "${apiVersion}"`)
}

function unhandled(kind: string, resource: Resource, why: string): string {
  return `${kind} in version "${resource.version}" cannot be handled as a ${resource.kind}: ${why}`
}

export interface DecodeOptions {
  readonly validation: FieldValidation
  readonly duplicates: readonly string[]
  /** Makes the refusal of what cannot be decoded; 400 by default. */
  readonly refuse?: (why: string) => StatusError
}

/** Types, prunes and defaults; unknown and duplicate fields are refused, warned of or dropped in silence. */
export function decode(call: Call, json: JsonObject, options: DecodeOptions): KubeObject {
  const { resource } = call
  const refuse = options.refuse ?? ((why) => badRequest(unhandled(resource.kind, resource, why)))
  const { object, unknown } = decodeQuietly(resource, json, refuse)
  const problems = [
    ...options.duplicates.map((path) => `duplicate field "${path}"`),
    ...unknown.map((path) => `unknown field "${path}"`),
  ]
  if (problems.length > 0 && options.validation === 'Strict')
    throw refuse(`strict decoding error: ${problems.join(', ')}`)
  if (options.validation === 'Warn') for (const problem of problems) call.warn(problem)
  return object
}

/** The same without a client to tell: what an admission webhook or a patch made of an object. */
export function decodeQuietly(
  resource: Resource,
  json: JsonObject,
  refuse: (why: string) => StatusError,
): { object: KubeObject; unknown: readonly string[] } {
  try {
    const { object, unknown } = resource.decode(json)
    return {
      object: tidyMeta(withType(object, groupVersion(resource), resource.kind)),
      unknown,
    }
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message)
    throw error
  }
}

const OMIT_EMPTY = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const

/** ObjectMeta as it is on the wire: empty parts are left out. */
function tidyMeta(object: KubeObject): KubeObject {
  const metadata = object.metadata
  const empty = OMIT_EMPTY.filter((field) => metadata[field] && Object.keys(metadata[field]).length === 0)
  const patch = Object.fromEntries(empty.map((field) => [field, undefined]))
  const strings = metadata.generateName === '' ? { generateName: undefined } : {}
  return withMeta(object, { ...patch, ...strings })
}
