import { ProtobufError, WireError } from '../errors.ts'
import { type Draft, isArray, isObject, type Json, type JsonObject } from '../json.ts'
import { fieldSchema, itemSchema, referenceOf, resolve, type Schema } from './definitions.ts'
import { readMessage, type WireField } from './protobuf-wire.ts'
import { siblingStruct, wireFields } from './wire-fields.ts'

const MAGIC = Buffer.from('k8s\0')
const MAX_DEPTH = 64
const TIME = /\.(Micro)?Time$/

/**
 * Reads the protobuf form of an object, in which Go clients send built-in kinds: `k8s\0` and a `runtime.Unknown` around
 * the message. Throws ProtobufError.
 */
export function decodeProtobuf(body: Buffer, definition: string): JsonObject {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC))
    throw new ProtobufError('provided data does not appear to be a protobuf message')
  try {
    const envelope = readMessage(body.subarray(MAGIC.length))
    const type = bytesOf(envelope, 1)
    const { apiVersion, kind } = typeMeta(type)
    const message = decodeMessage(bytesOf(envelope, 2), definition, 0)
    return { ...(apiVersion ? { apiVersion } : {}), ...(kind ? { kind } : {}), ...message }
  } catch (error) {
    if (error instanceof WireError) throw new ProtobufError(error.message)
    throw error
  }
}

function bytesOf(fields: readonly WireField[], number: number): Buffer {
  const found = fields.findLast((field) => field.number === number)?.value
  return Buffer.isBuffer(found) ? found : Buffer.alloc(0)
}

function typeMeta(type: Buffer): { apiVersion: string; kind: string } {
  const fields = readMessage(type)
  return { apiVersion: bytesOf(fields, 1).toString(), kind: bytesOf(fields, 2).toString() }
}

function decodeMessage(bytes: Buffer, definition: string, depth: number): JsonObject {
  const schema = resolve({ $ref: `#/components/schemas/${definition}` })
  return decodeFields(bytes, { schema, definition }, depth)
}

interface Struct {
  readonly schema: Schema
  readonly definition: string
}

/** Fields that the definition does not know are dropped, as a typed decoder does. */
function decodeFields(bytes: Buffer, { schema, definition }: Struct, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw new WireError('the message nests too deep')
  const names = wireFields(definition) ?? {}
  const out: Draft = {}
  for (const field of readMessage(bytes)) {
    const name = names[field.number]
    if (name === undefined) continue
    if (name.startsWith('<')) {
      const inner = siblingStruct(definition, name.slice(1))
      Object.assign(out, decodeFields(asBytes(field.value), { schema, definition: inner }, depth + 1))
    } else setField(out, name, { schema, value: field.value, depth })
  }
  return out
}

interface Incoming {
  readonly schema: Schema
  readonly value: bigint | Buffer
  readonly depth: number
}

function setField(out: Draft, name: string, { schema, value, depth }: Incoming): void {
  const key = name.replace(/^\*/, '')
  const raw = propertyOf(schema, key)
  if (!raw) return
  const field = resolve(raw)
  if (field['type'] === 'array') {
    const items = isObject(field['items']) ? field['items'] : {}
    const before = out[key]
    out[key] = [...(isArray(before) ? before : []), decodeValue(value, items, depth)]
  } else if (field['additionalProperties']) {
    const before = out[key]
    out[key] = { ...(isObject(before) ? before : {}), ...decodeEntry(asBytes(value), field, depth) }
  } else {
    const decoded = decodeValue(value, raw, depth)
    if (name.startsWith('*') || !isZero(decoded)) out[key] = decoded
  }
}

function propertyOf(schema: Schema, key: string): Schema | undefined {
  const properties = schema['properties']
  const found = isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined
  return isObject(found) ? found : undefined
}

/** Go writes every field that is no pointer, also when nothing was set; JSON leaves those out. */
function isZero(value: Json): boolean {
  return (
    value === '' || value === 0 || value === false || (isObject(value) && Object.keys(value).length === 0)
  )
}

function decodeEntry(bytes: Buffer, map: Schema, depth: number): JsonObject {
  const entry = readMessage(bytes)
  const values = fieldSchema(map, '') ?? {}
  const key = bytesOf(entry, 1).toString()
  const value = entry.findLast((field) => field.number === 2)?.value ?? Buffer.alloc(0)
  if (values['type'] !== 'array') return { [key]: decodeValue(value, values, depth) }
  const items = readMessage(asBytes(value)).filter((field) => field.number === 1)
  return { [key]: items.map((item) => decodeValue(item.value, itemSchema(values) ?? {}, depth)) }
}

function decodeValue(value: bigint | Buffer, raw: Schema, depth: number): Json {
  const reference = referenceOf(raw)
  const schema = resolve(raw)
  if (reference && TIME.test(reference)) return decodeTime(asBytes(value), reference.endsWith('MicroTime'))
  if (schema['oneOf']) return decodeUnion(asBytes(value), schema)
  switch (schema['type']) {
    case 'boolean':
      return value === 1n
    case 'integer':
    case 'number':
      return Number(BigInt.asIntN(64, asInteger(value)))
    case 'string':
      return asBytes(value).toString(schema['format'] === 'byte' ? 'base64' : 'utf8')
    default:
      return reference === undefined ? {} : decodeStruct(asBytes(value), reference, depth)
  }
}

/** FieldsV1, RawExtension and JSON carry their JSON as bytes. */
function decodeStruct(bytes: Buffer, definition: string, depth: number): Json {
  if (wireFields(definition)) return decodeMessage(bytes, definition, depth + 1)
  try {
    return JSON.parse(bytesOf(readMessage(bytes), 1).toString()) as Json
  } catch {
    return {}
  }
}

function decodeUnion(bytes: Buffer, schema: Schema): Json {
  const fields = readMessage(bytes)
  if (schema['format'] !== 'int-or-string') return bytesOf(fields, 1).toString()
  const isText = fields.some((field) => field.number === 1 && field.value === 1n)
  if (isText) return bytesOf(fields, 3).toString()
  const integer = fields.findLast((field) => field.number === 2)?.value
  return Number(BigInt.asIntN(64, integer === undefined ? 0n : asInteger(integer)))
}

function decodeTime(bytes: Buffer, micro: boolean): Json {
  const fields = readMessage(bytes)
  const of = (number: number) => {
    const found = fields.findLast((field) => field.number === number)?.value
    return found === undefined ? 0 : Number(BigInt.asIntN(64, asInteger(found)))
  }
  const seconds = of(1)
  if (seconds === 0 && of(2) === 0) return ''
  const date = new Date(seconds * 1000)
  if (Number.isNaN(date.getTime())) throw new WireError('a time is out of range')
  const whole = date.toISOString().slice(0, 19)
  return micro ? `${whole}.${String(Math.trunc(of(2) / 1000)).padStart(6, '0')}Z` : `${whole}Z`
}

function asBytes(value: bigint | Buffer): Buffer {
  if (typeof value === 'bigint') throw new WireError('a number where bytes belong')
  return value
}

function asInteger(value: bigint | Buffer): bigint {
  if (typeof value !== 'bigint') throw new WireError('bytes where a number belongs')
  return value
}
