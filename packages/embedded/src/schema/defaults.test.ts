import { describe, expect, it } from 'vitest'
import { applyDefaults } from './defaults.ts'
import type { Json, JsonSchema } from './types.ts'

const number = (value: number, rest: JsonSchema = {}): JsonSchema => ({
  type: 'integer',
  default: value,
  ...rest,
})
const spec = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
})
const fill = (value: Json, properties: Record<string, JsonSchema>) =>
  applyDefaults({ spec: value }, spec(properties)).spec

describe('applyDefaults', () => {
  it('fills absent fields, and those of a default that it has just filled in', () => {
    const inner: JsonSchema = { type: 'object', default: {}, properties: { b: number(2) } }
    expect(fill({}, { a: number(1), inner })).toEqual({ a: 1, inner: { b: 2 } })
  })

  it('keeps what is there', () => {
    expect(fill({ a: 0 }, { a: number(1) })).toEqual({ a: 0 })
  })

  it('fills a null where null is not allowed, and keeps it where it is', () => {
    expect(fill({ a: null, b: null }, { a: number(1), b: number(2, { nullable: true }) })).toEqual({
      a: 1,
      b: null,
    })
  })

  it('drops a null that is neither allowed nor has a default', () => {
    expect(fill({ a: null, list: null }, { a: { type: 'string' }, list: { type: 'array' } })).toEqual({})
  })

  it('keeps a null that no schema knows', () => {
    const open: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    expect(fill({ open: { x: null } }, { open })).toEqual({ open: { x: null } })
  })

  it('reaches the items of lists and the values of maps', () => {
    const item: JsonSchema = { type: 'object', properties: { a: number(1) } }
    const object = { list: [{}, { a: 5 }], map: { k: {} } }
    expect(
      fill(object, {
        list: { type: 'array', items: item },
        map: { type: 'object', additionalProperties: item },
      }),
    ).toEqual({
      list: [{ a: 1 }, { a: 5 }],
      map: { k: { a: 1 } },
    })
  })

  it('fills nothing into an object that is not there', () => {
    expect(applyDefaults({}, spec({ a: number(1) }))).toEqual({})
  })
})
