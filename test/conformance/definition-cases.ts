import { CRDS } from './objects.ts'

/** Definitions of a kind of their own, good and bad. */
export const GROUP = 'definitions.upgradehub.io'
export const AT = `${CRDS}/gadgets.${GROUP}`

export type Schema = Readonly<Record<string, unknown>>

export const definition = (spec: Schema, rest: Schema = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural: 'gadgets', kind: 'Gadget', singular: 'gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        ...rest,
      },
    ],
  },
})

export const object = (properties: Schema, rest: Schema = {}) => ({ type: 'object', properties, ...rest })
export const rules = (...list: Schema[]) => ({ 'x-kubernetes-validations': list })

/** Schemas that an API server does not take, each for one reason. */
export const BAD_SCHEMAS: readonly (readonly [string, Schema])[] = [
  ['no type', {}],
  ['an unknown type', { type: 'text' }],
  ['a list without items', { type: 'array' }],
  ['items without a type', { type: 'array', items: {} }],
  [
    'properties and additionalProperties',
    object({ a: { type: 'string' } }, { additionalProperties: { type: 'string' } }),
  ],
  ['a type in a junctor', { type: 'string', anyOf: [{ type: 'string' }] }],
  ['unique items', { type: 'array', items: { type: 'string' }, uniqueItems: true }],
  ['a pattern that is none', { type: 'string', pattern: '(' }],
  ['preserve false', object({}, { 'x-kubernetes-preserve-unknown-fields': false })],
  ['a map list without keys', { type: 'array', items: object({}), 'x-kubernetes-list-type': 'map' }],
  [
    'a map list with a key that is not there',
    {
      type: 'array',
      items: object({}),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
  ],
  [
    'a map list with an optional key',
    {
      type: 'array',
      items: object({ a: { type: 'string' } }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
  ],
  ['a list type of its own', { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' }],
  ['a set of granular objects', { type: 'array', items: object({}), 'x-kubernetes-list-type': 'set' }],
  ['a map type of its own', object({}, { 'x-kubernetes-map-type': 'wide' })],
  ['a default of another type', { type: 'integer', default: 'x' }],
  ['a default with an unknown field', object({ a: { type: 'string' } }, { default: { b: 1 } })],
  ['a default that breaks its pattern', { type: 'string', pattern: '^a', default: 'b' }],
  ['an embedded resource of nothing', { type: 'object', 'x-kubernetes-embedded-resource': true }],
  ['an empty rule', object({}, rules({ rule: ' ' }))],
  ['a reason of its own', object({}, rules({ rule: 'true', reason: 'Because' }))],
  ['a path to nothing', object({}, rules({ rule: 'true', fieldPath: '.none' }))],
  ['a message of two lines', object({}, rules({ rule: 'true', message: 'a\nb' }))],
  ['an optional oldSelf that no rule uses', object({}, rules({ rule: 'true', optionalOldSelf: true }))],
  ['a rule that is no truth', object({ a: { type: 'integer', maximum: 5 } }, rules({ rule: 'self.a' }))],
]

/** Rules that do not compile; the compiler's own words differ. */
export const BAD_RULES: readonly (readonly [string, string])[] = [
  ['no expression', 'self.a =='],
  ['an unknown field', 'self.b == 1'],
  ['an unknown field asked for', 'has(self.b)'],
  ['a number with a text', "self.a == 'x'"],
  ['an unknown function', 'foo(self.a)'],
  ['an unknown variable', 'other.a == 1'],
]
