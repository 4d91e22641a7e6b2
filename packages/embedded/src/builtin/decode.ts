import { DecodeError } from '../errors.ts'
import { type Draft, isArray, isObject, type Json, type JsonObject, listAt, textOf } from '../json.ts'
import { definitionName, fieldSchema, isFree, itemSchema, type Schema, structName } from './definitions.ts'
import { pointerFields } from './wire-fields.ts'

export interface Decoded {
  readonly object: JsonObject
  /** Paths that the schema does not know and that were dropped. */
  readonly unknown: readonly string[]
}

interface Place {
  /** `spec.taints[0].key` */
  readonly path: string
  /** The same as Go's decoder says it, which does not name the keys of maps. */
  readonly shown: string
  readonly struct: string
  readonly unknown: string[]
}

/**
 * Reads an object as the typed decoder of the API server does: unknown fields and nulls are dropped. Throws DecodeError
 * for a value of another type. `path` is where the object stands, '' for a whole one.
 */
export function decodeTyped(object: JsonObject, schema: Schema, path = ''): Decoded {
  const unknown: string[] = []
  return {
    object: readObject(object, schema, { path, shown: path, struct: structName(schema), unknown }),
    unknown,
  }
}

function readObject(object: JsonObject, schema: Schema, place: Place): JsonObject {
  const out: Draft = {}
  const struct = structName(schema) || place.struct
  const isMap = schema['properties'] === undefined
  for (const [key, value] of Object.entries(object)) {
    const field = fieldSchema(schema, key)
    const path = place.path ? `${place.path}.${key}` : key
    if (!field) place.unknown.push(path)
    else if (value !== null) {
      const shown = isMap ? place.path : path
      const read = readValue(value, field, { path, shown, struct, unknown: place.unknown })
      if (isMap || !isOmitted(read, key, schema, field)) out[key] = read
    }
  }
  return out
}

/** Go leaves out a zero of a field that is neither required nor a pointer. */
function isOmitted(value: Json, key: string, schema: Schema, field: Schema): boolean {
  if (!isZero(value, field) || listAt(schema, 'required').includes(key)) return false
  const definition = definitionName(schema)
  return definition !== '' && !pointerFields(definition).has(key)
}

function isZero(value: Json, field: Schema): boolean {
  if (isArray(value)) return value.length === 0
  if (isObject(value)) return field['additionalProperties'] !== undefined && Object.keys(value).length === 0
  return value === '' || value === 0 || value === false
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
    return readValue(entry, item, { ...place, path: `${place.path}[${i}]`, shown: place.path })
  })
}

/** A Quantity may be written as a number and is kept as text; an IntOrString keeps its type. */
function readUnion(value: Json, schema: Schema, place: Place): Json {
  if (typeof value === 'string') return value
  if (typeof value !== 'number') throw mismatch(value, schema, place)
  return schema['format'] === 'int-or-string' ? value : String(value)
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function checkFormat(value: string, schema: Schema): string {
  if (schema['format'] === 'byte' && !BASE64.test(value.replace(/[\r\n]/g, ''))) {
    throw new DecodeError('illegal base64 data at input byte 0')
  }
  if (schema['format'] === 'date-time') checkTime(value, structName(schema) === 'MicroTime')
  return value
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/
/** Go wants exactly six digits here. */
const MICRO = /^\.\d{6}(?:Z|[+-]\d\d:\d\d)$/

function checkTime(value: string, micro: boolean): void {
  const layout = micro ? '2006-01-02T15:04:05.000000Z07:00' : '2006-01-02T15:04:05Z07:00'
  const fail = (rest: string, part: string) =>
    new DecodeError(
      `parsing time ${JSON.stringify(value)} as "${layout}": cannot parse ${JSON.stringify(rest)} as "${part}"`,
    )
  const whole = TIME.exec(value)?.[0]
  if (whole === undefined || Number.isNaN(Date.parse(value))) throw fail(value, '2006')
  const rest = value.slice(whole.length)
  if (micro && !MICRO.test(rest)) throw fail(rest, '.000000')
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
  const field = `${place.struct}.${place.shown.replaceAll(/\[\d+\]/g, '')}`
  return new DecodeError(
    `json: cannot unmarshal ${found} into Go struct field ${field} of type ${goType(schema)}`,
  )
}
