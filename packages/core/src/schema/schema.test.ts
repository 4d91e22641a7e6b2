import { Ajv } from 'ajv'
import fc from 'fast-check'
import { Type as TypeBox } from 'typebox'
import { describe, expect, it } from 'vitest'
import { firstProblem, problemsOf, Type, withDefaults } from './index.ts'

/** One schema with every keyword that is known. */
const sample = (type: typeof Type) =>
  type.Object(
    {
      name: type.String({ minLength: 1, maxLength: 4 }),
      count: type.Optional(type.Integer({ minimum: 0, maximum: 9 })),
      ratio: type.Optional(type.Number({ minimum: -1 })),
      on: type.Optional(type.Boolean()),
      kind: type.Optional(type.Union([type.Literal('a'), type.Literal('b'), type.Literal(1)])),
      form: type.Optional(
        type.Union([
          type.Object({ by: type.Literal('x'), path: type.String({ pattern: '^/' }) }),
          type.Object({ by: type.Literal('y'), args: type.Array(type.String()) }),
        ]),
      ),
      list: type.Optional(type.Array(type.Integer(), { minItems: 1, maxItems: 2 })),
      digests: type.Optional(
        type.Record(type.String({ maxLength: 9 }), type.String({ pattern: '^[a-f]+$' })),
      ),
      hosts: type.Optional(
        type.Record(type.String({ pattern: '^h' }), type.Integer(), {
          additionalProperties: false,
          maxProperties: 2,
        }),
      ),
      any: type.Optional(type.Unknown()),
    },
    { additionalProperties: false },
  )

const anything = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', 'a', 'b', '/x', 'abcd', 'abcde', '💡💡💡💡', 'ff', 'h1') },
  { weight: 2, arbitrary: fc.constantFrom(0, 1, 9, 10, -1, -2, 0.5) },
  fc.constantFrom(null, true, false),
)
const values = fc.record(
  {
    name: anything,
    count: anything,
    ratio: anything,
    on: anything,
    kind: anything,
    form: fc.oneof(
      anything,
      fc.record(
        { by: fc.constantFrom('x', 'y', 'z'), path: anything, args: fc.array(anything) },
        { requiredKeys: [] },
      ),
    ),
    list: fc.oneof(anything, fc.array(anything, { maxLength: 3 })),
    digests: fc.oneof(anything, fc.dictionary(fc.string({ maxLength: 3 }), anything, { maxKeys: 3 })),
    hosts: fc.oneof(
      anything,
      fc.dictionary(fc.constantFrom('h1', 'h2', 'h3', 'g'), anything, { maxKeys: 3 }),
    ),
    any: anything,
    toString: anything,
  },
  { requiredKeys: [] },
)

describe('Type', () => {
  it("writes TypeBox's own schemas", () => {
    expect(JSON.parse(JSON.stringify(sample(Type)))).toEqual(
      // A key's own rules besides its pattern are lost in TypeBox, too.
      JSON.parse(JSON.stringify(sample(TypeBox))),
    )
  })
})

describe('a check', () => {
  const schema = sample(Type)
  const oracle = new Ajv({ strict: true }).compile(JSON.parse(JSON.stringify(schema)) as object)

  it('agrees with ajv on every value', () => {
    fc.assert(
      fc.property(fc.oneof(values, anything), (value) => {
        expect(firstProblem(schema, value) === undefined).toBe(oracle(value))
      }),
      { numRuns: 3_000 },
    )
  })

  it.each([
    [{}, '', "must have required property 'name'"],
    [{ name: 'toolong' }, '/name', 'must not have more than 4 characters'],
    [{ name: 'a', kind: 'c' }, '/kind', 'must be one of a, b, 1'],
    [{ name: 'a', form: { by: 'x', path: 'no' } }, '/form/path', 'must match pattern "^/"'],
    [{ name: 'a', list: [1, 'x'] }, '/list/1', 'must be integer'],
    [{ name: 'a', secret: 'x' }, '', "must not have the property 'secret'"],
  ])('of %j says where and what, and never the value', (value, path, message) => {
    expect(firstProblem(schema, value)).toEqual({ path, message })
  })

  it('finds every problem, or stops at the first', () => {
    const wrong = { name: '', count: -1, list: [] }
    expect([...problemsOf(schema, wrong)].map(({ path }) => path)).toEqual(['/name', '/count', '/list'])
    let looked = 0
    const many = { name: 'a', list: new Proxy([1], { get: (on, key) => (looked++, Reflect.get(on, key)) }) }
    expect(firstProblem(schema, { ...many, name: '' })?.path).toBe('/name')
    expect(looked).toBe(0)
  })

  it('does not take what is inherited for a property', () => {
    expect(firstProblem(Type.Object({ constructor: Type.Unknown() }), {})?.path).toBe('')
  })

  it('refuses a schema that it does not understand', () => {
    expect(() => firstProblem(Type.String({ format: 'email' }), 'x')).toThrow('format')
  })
})

describe('defaults', () => {
  const schema = Type.Object({
    level: Type.String({ default: 'info' }),
    paths: Type.Object({ run: Type.String({ default: '/run' }) }, { default: {} }),
    parts: Type.Array(Type.Object({ args: Type.Array(Type.String(), { default: ['-v'] }) })),
  })

  it('fill what is absent, to the depths, and change nothing else', () => {
    const given = { parts: [{}, { args: [] }], strange: 1 }
    expect(withDefaults(schema, given)).toEqual({
      level: 'info',
      paths: { run: '/run' },
      parts: [{ args: ['-v'] }, { args: [] }],
      strange: 1,
    })
    expect(given).toEqual({ parts: [{}, { args: [] }], strange: 1 })
  })

  it('are a copy for everybody', () => {
    const one = withDefaults(schema, { parts: [{}] }) as { parts: { args: string[] }[] }
    one.parts[0]?.args.push('x')
    expect(withDefaults(schema, { parts: [{}] })).toMatchObject({ parts: [{ args: ['-v'] }] })
  })

  it.each([[null], ['text'], [[1]]])('leave %j, which is no such object, alone', (value) => {
    expect(withDefaults(schema, value)).toEqual(value)
  })
})
