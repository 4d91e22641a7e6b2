import { describe, expect, it } from 'vitest'
import type { Json, JsonSchema } from './types.ts'
import { validateValue } from './validate-value.ts'

/** `reason field: message` of every cause, as kubectl prints them. */
function verdict(value: Json, schema: JsonSchema): string[] {
  return validateValue(value, schema, { path: 'spec.x' }).map((c) => `${c.reason} ${c.field}: ${c.message}`)
}

describe('validateValue', () => {
  it.each<[string, Json, JsonSchema, string]>([
    [
      'a text for a number',
      'a',
      { type: 'integer' },
      'FieldValueTypeInvalid spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"',
    ],
    [
      'a text for a formatted number',
      'a',
      { type: 'integer', format: 'int32' },
      'FieldValueTypeInvalid spec.x: Invalid value: "string": spec.x in body must be of type integer: "string"',
    ],
    [
      'a flag for a formatted number',
      true,
      { type: 'integer', format: 'int32' },
      'FieldValueTypeInvalid spec.x: Invalid value: "": spec.x in body must be of type int32: ""',
    ],
    [
      'a null',
      null,
      { type: 'string' },
      'FieldValueTypeInvalid spec.x: Invalid value: "null": spec.x in body must be of type string: "null"',
    ],
    [
      'a word outside of an enum',
      'c',
      { type: 'string', enum: ['a', 'b'] },
      'FieldValueNotSupported spec.x: Unsupported value: "c": supported values: "a", "b"',
    ],
    [
      'a number outside of an enum',
      3,
      { type: 'integer', enum: [1, 2] },
      'FieldValueNotSupported spec.x: Unsupported value: 3: supported values: "1", "2"',
    ],
    [
      'a text that breaks its pattern',
      'B',
      { type: 'string', pattern: '^[a-z]+$' },
      'FieldValueInvalid spec.x: Invalid value: "B": spec.x in body should match \'^[a-z]+$\'',
    ],
    [
      'a long text',
      'abc',
      { type: 'string', maxLength: 2 },
      'FieldValueTooLong spec.x: Too long: may not be more than 2 bytes',
    ],
    [
      'a short text',
      'a',
      { type: 'string', minLength: 2 },
      'FieldValueInvalid spec.x: Invalid value: "a": spec.x in body should be at least 2 chars long',
    ],
    [
      'a small number',
      1,
      { type: 'integer', minimum: 2 },
      'FieldValueInvalid spec.x: Invalid value: 1: spec.x in body should be greater than or equal to 2',
    ],
    [
      'a number at an exclusive bound',
      2,
      { type: 'integer', maximum: 2, exclusiveMaximum: true },
      'FieldValueInvalid spec.x: Invalid value: 2: spec.x in body should be less than 2',
    ],
    [
      'a number beyond int32',
      2 ** 31,
      { type: 'integer', format: 'int32' },
      'FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x',
    ],
    [
      'too many items',
      [1, 2],
      { type: 'array', maxItems: 1 },
      'FieldValueTooMany spec.x: Too many: 2: must have at most 1 item',
    ],
    [
      'too many properties',
      { a: 1, b: 2 },
      { type: 'object', maxProperties: 1 },
      'FieldValueTooMany spec.x: Too many: 2: must have at most 1 item',
    ],
    [
      'a missing field',
      {},
      { type: 'object', required: ['a'] },
      'FieldValueRequired spec.x.a: Required value',
    ],
    [
      'a time that is none',
      'yesterday',
      { type: 'string', format: 'date-time' },
      'FieldValueTypeInvalid spec.x: Invalid value: "yesterday": spec.x in body must be of type date-time: "yesterday"',
    ],
    [
      'an item',
      [{ a: 'x' }],
      { type: 'array', items: { type: 'object', properties: { a: { type: 'boolean' } } } },
      'FieldValueTypeInvalid spec.x[0].a: Invalid value: "string": spec.x[0].a in body must be of type boolean: "string"',
    ],
    [
      'an entry of a map',
      { 'linux/amd64': 1 },
      { type: 'object', additionalProperties: { type: 'string' } },
      'FieldValueTypeInvalid spec.x.linux/amd64: Invalid value: "integer": spec.x.linux/amd64 in body must be of type string: "integer"',
    ],
  ])('refuses %s', (_, value, schema, expected) => {
    expect(verdict(value, schema)).toContain(expected)
  })

  it.each<[string, Json, JsonSchema]>([
    ['a whole number where any number may be', 3, { type: 'number' }],
    ['a number or text for int-or-string', '5%', { 'x-kubernetes-int-or-string': true }],
    ['a null where it is allowed', null, { type: 'string', nullable: true }],
    ['a text as long as it may be, counted in code points', '🚀🚀', { type: 'string', maxLength: 2 }],
    ['a leap day', '2024-02-29', { type: 'string', format: 'date' }],
    ['a format that no API server knows', 'anything', { type: 'string', format: 'made-up' }],
    ['one of several', { a: 'x' }, { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] }],
  ])('accepts %s', (_, value, schema) => {
    expect(verdict(value, schema)).toEqual([])
  })

  it('says which junctor failed and why its first branch did', () => {
    const schema: JsonSchema = { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] }
    expect(verdict({}, schema)).toEqual([
      'FieldValueInvalid <nil>: Invalid value: "": "spec.x" must validate at least one schema (anyOf)',
      'FieldValueRequired spec.x.a: Required value',
    ])
  })

  it('is linear in the text for a pattern that would make a backtracking matcher run for ever', () => {
    const schema: JsonSchema = { type: 'string', pattern: '^(a+)+$' }
    expect(verdict(`${'a'.repeat(5000)}!`, schema)).toHaveLength(1)
  })
})
