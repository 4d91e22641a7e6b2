import { HubError, messageOf } from '@upgrade-hub/core'
import { parse as parseYaml } from 'yaml'
import { DecodeError } from '../builtin/decode.ts'
import { badRequest, type StatusError, unsupportedMediaType } from '../errors.ts'
import type { Call } from '../http/call.ts'
import type { FieldValidation } from '../http/options.ts'
import { isArray, isObject, type Json, type JsonObject } from '../json.ts'
import { type KubeObject, withMeta, withType } from '../objects.ts'
import { groupVersion, type Resource } from '../registry/resource.ts'
import { parseStrictJson } from '../schema/index.ts'

const ACCEPTED = ['application/json', 'application/yaml']

export interface ParsedBody {
  readonly value: Json
  readonly duplicates: readonly string[]
}

export function contentTypeOf(call: Call): string {
  return (call.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** The object of a create or an update, typed, pruned and with defaults. Throws 400, 413 and 415. */
export async function readObject(call: Call, validation: FieldValidation): Promise<KubeObject> {
  const type = contentTypeOf(call) || 'application/json'
  const text = await call.body()
  if (!ACCEPTED.includes(type)) throw unsupportedMediaType(ACCEPTED)
  const { value, duplicates } = parseBody(text, type, call.resource.kind)
  checkType(value, text, call.resource)
  return decode(call, value === null ? {} : (value as JsonObject), { validation, duplicates })
}

function parseBody(text: string, type: string, kind: string): ParsedBody {
  try {
    if (type === 'application/yaml')
      return { value: parseYaml(text, { maxAliasCount: 100 }) as Json, duplicates: [] }
    if (text === '') throw badRequest(unrecognized(kind, '<empty>', 'unexpected end of JSON input'))
    return parseStrictJson(text)
  } catch (error) {
    if (error instanceof HubError && error.code === 'API_BAD_REQUEST') throw error
    throw badRequest(unrecognized(kind, text.slice(0, 200), messageOf(error)))
  }
}

function unrecognized(kind: string, shown: string, why: string): string {
  return `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why} (${shown})`
}

/** A body names the type that the path names; built-in kinds may leave it out. */
function checkType(value: Json, text: string, resource: Resource): void {
  if (value === null && !resource.custom) return
  if (!isObject(value)) {
    const found = isArray(value) ? 'array' : typeof value
    throw badRequest(
      unrecognized(resource.kind, text.slice(0, 200), `json: cannot unmarshal ${found} into Go value`),
    )
  }
  const { apiVersion = '', kind = '' } = value
  const expected = groupVersion(resource)
  if (resource.custom && (kind === '' || apiVersion === '')) {
    const missing = kind === '' ? 'Kind' : 'apiVersion'
    const shown = text.slice(0, 200)
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object '${missing}' is missing in '${shown}' (${shown})`,
    )
  }
  if (kind !== '' && kind !== resource.kind)
    throw badRequest(
      unhandled(
        String(kind),
        resource,
        `no kind "${String(kind)}" is registered for version "${String(apiVersion) || expected}"`,
      ),
    )
  if (apiVersion !== '' && apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
    )
  }
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
