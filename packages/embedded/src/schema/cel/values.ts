import { Optional } from '@marcbachmann/cel-js'
import { Duration } from '@marcbachmann/cel-js/evaluator'
import { isList, isObject, own } from '../json.ts'
import { extraSchema } from '../prune.ts'
import type { Json, JsonObject, JsonSchema } from '../types.ts'
import { escapeName } from './escape.ts'

/** What has been converted already, because rules look at the same parts of an object from several nodes. */
export type Memo = WeakMap<object, unknown>

type Identity = (item: unknown) => unknown

/** How the elements of lists of type set and map are told apart; other lists are not in it. */
const identities = new WeakMap<object, Identity>()

/** The identity of the elements of a converted list whose order does not count. */
export function listIdentity(list: readonly unknown[]): Identity | undefined {
  return identities.get(list)
}

const TEXT: JsonSchema = { type: 'string' }
const ROOT_FIELDS: Readonly<Record<string, JsonSchema>> = {
  apiVersion: TEXT,
  kind: TEXT,
  metadata: { type: 'object', properties: { name: TEXT, generateName: TEXT } },
}

/**
 * The schema as rules see it: at the root of a resource, also of an embedded one, they see `apiVersion`, `kind`,
 * `metadata.name` and `metadata.generateName` too.
 */
export function asSeen(schema: JsonSchema): JsonSchema {
  if (!schema['x-kubernetes-embedded-resource']) return schema
  return { ...schema, properties: { ...schema.properties, ...ROOT_FIELDS } }
}

function identityOf(schema: JsonSchema): Identity | undefined {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return (item) => (typeof item === 'object' ? JSON.stringify(item, printBigInt) : item)
    case 'map':
      return (item) =>
        JSON.stringify(
          keys.map((key) => (isObject(item) ? item[key] : undefined)),
          printBigInt,
        )
    default:
      return undefined
  }
}

const printBigInt = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)

/** Values that CEL sees as they are. */
function isPlain(schema: JsonSchema | undefined): boolean {
  return schema?.type === 'boolean' || (schema?.type === 'string' && schema.format === undefined)
}

function convertList(list: readonly Json[], schema: JsonSchema, memo: Memo): unknown {
  const converted = isPlain(schema.items) ? list : list.map((item) => toCel(item, schema.items, memo))
  const identity = identityOf(schema)
  if (identity !== undefined) identities.set(converted, identity)
  return converted
}

/** Nulls are as if absent, and fields without a schema are out of sight. */
function convertObject(object: JsonObject, schema: JsonSchema, memo: Memo): unknown {
  const known = memo.get(object)
  if (known !== undefined) return known
  const converted: Record<string, unknown> = Object.create(null)
  const { properties } = asSeen(schema)
  const extra = extraSchema(schema)
  for (const [name, value] of Object.entries(object)) {
    const property = own(properties, name)
    if (value === null || (property ?? extra) === undefined) continue
    const celName = property === undefined ? name : escapeName(name)
    if (celName !== undefined) converted[celName] = toCel(value, property ?? extra, memo)
  }
  memo.set(object, converted)
  return converted
}

function convertText(text: string, format: string | undefined): unknown {
  switch (format) {
    case 'date':
    case 'date-time':
      return new Date(text)
    case 'byte':
      return Buffer.from(text, 'base64')
    case 'duration':
      return Duration.fromMilliseconds(durationMs(text))
    default:
      return text
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
}

function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)]
  const sum = parts.reduce(
    (total, [, amount, unit]) => total + Number(amount) * (UNIT_MS[unit ?? 's'] ?? 0),
    0,
  )
  return text.startsWith('-') ? -sum : sum
}

function convertNumber(value: number, schema: JsonSchema | undefined): unknown {
  return schema?.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value
}

/**
 * A JSON value as CEL sees it: integers are int (BigInt) by schema, formatted texts are timestamps, durations and bytes,
 * field names are escaped. Without a schema it is converted by its own shape.
 */
export function toCel(value: Json, schema: JsonSchema | undefined, memo: Memo = new WeakMap()): unknown {
  if (schema === undefined) return dynToCel(value)
  if (typeof value === 'number') return convertNumber(value, schema)
  if (typeof value === 'string') return schema.type === 'string' ? convertText(value, schema.format) : value
  if (isList(value)) return convertList(value, schema, memo)
  return isObject(value) ? convertObject(value, schema, memo) : value
}

/** A JSON value without a schema, as admission expressions see objects: whole numbers are ints, nulls stay. */
export function dynToCel(value: Json): unknown {
  if (typeof value === 'number') return convertNumber(value, undefined)
  if (isList(value)) return value.map(dynToCel)
  if (!isObject(value)) return value
  const converted: Record<string, unknown> = Object.create(null)
  for (const [name, item] of Object.entries(value)) converted[name] = dynToCel(item)
  return converted
}

/** What `oldSelf` is under `optionalOldSelf`. */
export function optional(value: unknown): Optional {
  return value === undefined ? Optional.none() : Optional.of(value)
}
