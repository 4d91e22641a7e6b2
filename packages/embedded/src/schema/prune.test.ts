import { describe, expect, it } from 'vitest'
import { prune } from './prune.ts'
import type { JsonSchema } from './types.ts'

const integer: JsonSchema = { type: 'integer' }
const schema = (spec: JsonSchema): JsonSchema => ({ type: 'object', properties: { spec } })

describe('prune', () => {
  it('drops what no property declares and tells every path, sorted', () => {
    const spec: JsonSchema = {
      type: 'object',
      properties: {
        a: integer,
        list: { type: 'array', items: { type: 'object', properties: { b: integer } } },
      },
    }
    const object = { spec: { z: 1, a: 1, list: [{ b: 1, c: 2 }] }, extra: 1 }
    expect(prune(object, schema(spec))).toEqual({
      object: { spec: { a: 1, list: [{ b: 1 }] } },
      unknown: ['extra', 'spec.list[0].c', 'spec.z'],
    })
  })

  it('keeps apiVersion, kind and metadata of the root whatever is in them', () => {
    const object = { apiVersion: 'v1', kind: 'X', metadata: { anything: { deep: 1 } } }
    expect(prune(object, { type: 'object' })).toEqual({ object, unknown: [] })
  })

  it('keeps the unknown below preserve-unknown-fields but prunes what is declared there', () => {
    const open: JsonSchema = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { a: integer } } },
    }
    const object = { spec: { free: [{ x: { y: 1 } }], known: { a: 1, b: 2 } } }
    expect(prune(object, schema(open))).toEqual({
      object: { spec: { free: [{ x: { y: 1 } }], known: { a: 1 } } },
      unknown: ['spec.known.b'],
    })
  })

  it('keeps the type and metadata of an embedded resource', () => {
    const embedded: JsonSchema = {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { a: integer },
    }
    const object = { spec: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: {} }, a: 1, b: 1 } }
    expect(prune(object, schema(embedded)).unknown).toEqual(['spec.b'])
  })

  it('keeps every key of a map and prunes its values', () => {
    const map: JsonSchema = {
      type: 'object',
      additionalProperties: { type: 'object', properties: { a: integer } },
    }
    expect(prune({ spec: { k: { a: 1, b: 1 } } }, schema(map))).toEqual({
      object: { spec: { k: { a: 1 } } },
      unknown: ['spec.k.b'],
    })
  })

  it('takes a field called constructor or __proto__ for what it is', () => {
    const object = JSON.parse('{"spec":{"constructor":1,"__proto__":{"a":1}}}')
    expect(prune(object, schema({ type: 'object' })).unknown).toEqual(['spec.__proto__', 'spec.constructor'])
  })

  it('changes nothing in place', () => {
    const object = Object.freeze({ spec: Object.freeze({ a: 1 }) })
    expect(prune(object, schema({ type: 'object' })).object).toEqual({ spec: {} })
    expect(object).toEqual({ spec: { a: 1 } })
  })
})
