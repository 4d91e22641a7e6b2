import { HubError } from '@upgrade-hub/core'
import { type Draft, isArray, isObject, type Json, type JsonObject, textOf } from '../json.ts'
import { fieldSchema, isFree, itemSchema, type Schema, structName } from './definitions.ts'

export interface Decoded {
  readonly object: JsonObject
  /** Paths that the schema does not know and that were dropped. */
  readonly unknown: readonly string[]
}

/** A value that the type of its field cannot hold, in the words of Go's JSON decoder. */
export class DecodeError extends HubError {
  constructor(message: string) {
    super('EMBEDDED_DECODE', message)
  }
}

interface Place {
  /** `spec.taints[0].key` */
  readonly path: string
  readonly struct: string
  readonly unknown: string[]
}

/**
 * Reads an object as the typed decoder of the API server does: unknown fields and nulls are dropped. Throws DecodeError
 * for a value of another type. `path` is where the object stands, '' for a whole one.
 */
export function decodeTyped(object: JsonObject, schema: Schema, path = ''): Decoded {
  const unknown: string[] = []
  return { object: readObject(object, schema, { path, struct: structName(schema), unknown }), unknown }
}

function readObject(object: JsonObject, schema: Schema, place: Place): JsonObject {
  const out: Draft = {}
  const struct = structName(schema) || place.struct
  for (const [key, value] of Object.entries(object)) {
    const field = fieldSchema(schema, key)
    const path = place.path ? `${place.path}.${key}` : key
    if (!field) place.unknown.push(path)
    else if (value !== null) out[key] = readValue(value, field, { path, struct, unknown: place.unknown })
  }
  return out
}

function readValue(value: Json, schema: Schema, place: Place): Json {
  if (isFree(schema)) return value
  if (schema['type'] === 'array') return readList(value, schema, place)
  if (schema['oneOf']) return readUnion(value, schema, place)
  switch (schema['type']) {
    case 'boolean':
      if (typeof value !== 'boolean') throw mismatch(value, schema, place)
      return value
    case 'integer':
      if (!Number.isSafeInteger(value)) throw mismatch(value, schema, place)
      return value
    case 'number':
      if (typeof value !== 'number') throw mismatch(value, schema, place)
      return value
    case 'string':
      if (typeof value !== 'string') throw mismatch(value, schema, place)
      return checkFormat(value, schema)
    default:
      if (!isObject(value)) throw mismatch(value, schema, place)
      return readObject(value, schema, place)
  }
}

function readList(value: Json, schema: Schema, place: Place): Json {
  if (!isArray(value)) throw mismatch(value, schema, place)
  const item = itemSchema(schema) ?? {}
  return value.map((entry, i) => {
    if (entry === null) return entry
    return readValue(entry, item, { ...place, path: `${place.path}[${i}]` })
  })
}

/** A Quantity may be written as a number and is kept as text; an IntOrString keeps its type. */
function readUnion(value: Json, schema: Schema, place: Place): Json {
  if (typeof value === 'string') return value
  if (typeof value !== 'number') throw mismatch(value, schema, place)
  return schema['format'] === 'int-or-string' ? value : String(value)
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Go wants exactly six digits here. */
const MICRO_TIME = /\.\d{6}(?:Z|[+-]\d\d:\d\d)$/

function checkFormat(value: string, schema: Schema): string {
  if (schema['format'] === 'byte' && !BASE64.test(value.replace(/[\r\n]/g, ''))) {
    throw new DecodeError('illegal base64 data at input byte 0')
  }
  if (schema['format'] === 'date-time' && Number.isNaN(Date.parse(value))) {
    const shown = JSON.stringify(value)
    throw new DecodeError(
      `parsing time ${shown} as "2006-01-02T15:04:05Z07:00": cannot parse ${shown} as "2006"`,
    )
  }
  if (structName(schema) === 'MicroTime' && !MICRO_TIME.test(value)) {
    const shown = JSON.stringify(value)
    throw new DecodeError(
      `parsing time ${shown} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${shown} as ".000000"`,
    )
  }
  return value
}

const GO_SCALARS: Readonly<Record<string, string>> = {
  boolean: 'bool',
  integer: 'int64',
  number: 'float64',
  string: 'string',
}

function goType(schema: Schema): string {
  const type = textOf(schema['type'] ?? 'object')
  if (type === 'array') return `[]${goType(itemSchema(schema) ?? {})}`
  if (schema['additionalProperties']) return `map[string]${goType(fieldSchema(schema, '') ?? {})}`
  const scalar = GO_SCALARS[type]
  return scalar === 'int64' && schema['format'] === 'int32' ? 'int32' : (scalar ?? `v1.${structName(schema)}`)
}

function mismatch(value: Json, schema: Schema, place: Place): DecodeError {
  const found = isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  const field = `${place.struct}.${place.path.replaceAll(/\[\d+\]/g, '')}`
  return new DecodeError(
    `json: cannot unmarshal ${found} into Go struct field ${field} of type ${goType(schema)}`,
  )
}
