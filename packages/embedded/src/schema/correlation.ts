import { deepEqual, isList, isObject, own } from './json.ts'
import { extraSchema } from './prune.ts'
import type { Json, JsonObject, JsonSchema } from './types.ts'

/** The items of a map list by their keys, or nothing for an item without them. */
function listKey(item: Json, keys: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined
  const values = keys.map((name) => own(item, name))
  const usable = values.every((value) => value !== undefined && value !== null && typeof value !== 'object')
  return usable ? JSON.stringify(values) : undefined
}

/** The first old item with the same map keys; only lists of type `map` know which item was which. */
export function correlatedItem(schema: JsonSchema, old: Json | undefined, item: Json): Json | undefined {
  const keys = schema['x-kubernetes-list-map-keys']
  if (schema['x-kubernetes-list-type'] !== 'map' || keys === undefined || !isList(old)) return undefined
  const wanted = listKey(item, keys)
  return wanted === undefined ? undefined : old.find((candidate) => listKey(candidate, keys) === wanted)
}

/**
 * A value beside the value that it had before, as far as the schema says which was which. What is unchanged is
 * tolerated on update even when it is invalid (ratcheting, KEP-4008).
 */
export class Correlated {
  readonly value: Json
  readonly old: Json
  readonly schema: JsonSchema
  readonly #children = new Map<string | number, Correlated | undefined>()
  #unchanged: boolean | undefined

  constructor(value: Json, old: Json, schema: JsonSchema) {
    this.value = value
    this.old = old
    this.schema = schema
  }

  get unchanged(): boolean {
    this.#unchanged ??= this.#compare()
    return this.#unchanged
  }

  key(name: string): Correlated | undefined {
    return this.#child(name, () => {
      if (!isObject(this.value) || !isObject(this.old)) return undefined
      const schema = own(this.schema.properties, name) ?? extraSchema(this.schema)
      return this.#pair(own(this.value, name), own(this.old, name), schema)
    })
  }

  index(position: number): Correlated | undefined {
    return this.#child(position, () => {
      const item = isList(this.value) ? this.value[position] : undefined
      if (item === undefined) return undefined
      return this.#pair(item, correlatedItem(this.schema, this.old, item), this.schema.items)
    })
  }

  #pair(
    value: Json | undefined,
    old: Json | undefined,
    schema: JsonSchema | undefined,
  ): Correlated | undefined {
    if (value === undefined || old === undefined || schema === undefined) return undefined
    return new Correlated(value, old, schema)
  }

  #child(name: string | number, make: () => Correlated | undefined): Correlated | undefined {
    if (!this.#children.has(name)) this.#children.set(name, make())
    return this.#children.get(name)
  }

  /** A map list whose items moved or changed is compared item by item, so that order does not count. */
  #compare(): boolean {
    const { value, old, schema } = this
    if (!isList(value) || !isList(old) || schema['x-kubernetes-list-type'] !== 'map') {
      return isObject(value) && isObject(old) ? this.#compareObjects(value, old) : deepEqual(value, old)
    }
    return value.length === old.length && value.every((_, i) => this.index(i)?.unchanged ?? false)
  }

  #compareObjects(value: JsonObject, old: JsonObject): boolean {
    const names = Object.keys(value)
    return (
      names.length === Object.keys(old).length && names.every((name) => this.key(name)?.unchanged ?? false)
    )
  }
}
