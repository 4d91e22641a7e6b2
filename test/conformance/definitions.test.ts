import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { CRDS, MERGE } from './objects.ts'
import type { Recorder } from './recorder.ts'

const GROUP = 'definitions.upgradehub.io'
const AT = `${CRDS}/gadgets.${GROUP}`

type Schema = Readonly<Record<string, unknown>>

const definition = (spec: Schema, rest: Schema = {}) => ({
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

const object = (properties: Schema, rest: Schema = {}) => ({ type: 'object', properties, ...rest })
const rules = (...list: Schema[]) => ({ 'x-kubernetes-validations': list })

/** Schemas that an API server does not take, each for one reason. */
const BAD_SCHEMAS: readonly (readonly [string, Schema])[] = [
  ['no type', {}],
  ['an unknown type', { type: 'text' }],
  ['a list without items', { type: 'array' }],
  ['items without a type', { type: 'array', items: {} }],
  [
    'properties and additionalProperties',
    object({ a: { type: 'string' } }, { additionalProperties: { type: 'string' } }),
  ],
  ['a type in a junctor', { type: 'string', anyOf: [{ type: 'string' }] }],
  ['a property that only a junctor knows', object({}, { allOf: [{ properties: { a: { minimum: 1 } } }] })],
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
const BAD_RULES: readonly (readonly [string, string])[] = [
  ['no expression', 'self.a =='],
  ['an unknown field', 'self.b == 1'],
  ['an unknown field asked for', 'has(self.b)'],
  ['a number with a text', "self.a == 'x'"],
  ['an unknown function', 'foo(self.a)'],
  ['an unknown variable', 'other.a == 1'],
]

async function inTurn(plane: Recorder, list: readonly (readonly [string, Schema])[]): Promise<void> {
  for (const [title, schema] of list)
    await plane.call(title, 'POST', `${CRDS}?dryRun=All`, { body: definition(schema) })
}

describeBoth('both planes on definitions of kinds', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('refuse schemas alike', planes, async (plane) => {
    await inTurn(plane, BAD_SCHEMAS)
  })

  itAgrees('refuse rules alike that do not compile', planes, async (plane) => {
    const schema = (rule: string) => object({ a: { type: 'integer', maximum: 5 } }, rules({ rule }))
    await inTurn(
      plane,
      BAD_RULES.map(([title, rule]) => [title, schema(rule)]),
    )
  })

  itAgrees('refuse names and versions alike', planes, async (plane) => {
    const good = definition(object({}))
    const spec = (rest: Schema) => ({ body: { ...good, spec: { ...good.spec, ...rest } } })
    const [version] = good.spec.versions
    await plane.call('another name', 'POST', CRDS, { body: { ...good, metadata: { name: 'x.y' } } })
    await plane.call('a group without a dot', 'POST', CRDS, spec({ group: 'x' }))
    await plane.call('a bad plural', 'POST', CRDS, spec({ names: { ...good.spec.names, plural: 'Gadgets' } }))
    await plane.call('a scope of its own', 'POST', CRDS, spec({ scope: 'Galaxy' }))
    await plane.call('no version', 'POST', CRDS, spec({ versions: [] }))
    await plane.call('nothing stored', 'POST', CRDS, spec({ versions: [{ ...version, storage: false }] }))
    await plane.call(
      'a version twice',
      'POST',
      CRDS,
      spec({ versions: [version, { ...version, storage: false }] }),
    )
    await plane.call('a bad version', 'POST', CRDS, spec({ versions: [{ ...version, name: '1' }] }))
    await plane.call('no schema', 'POST', CRDS, spec({ versions: [{ ...version, schema: undefined }] }))
    await plane.call(
      'a column of its own',
      'POST',
      CRDS,
      spec({
        versions: [{ ...version, additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: 'a' }] }],
      }),
    )
    await plane.call(
      'a selectable field that is not there',
      'POST',
      CRDS,
      spec({ versions: [{ ...version, selectableFields: [{ jsonPath: '.spec.none' }] }] }),
    )
  })

  itAgrees('serve a kind from its definition to its end', planes, async (plane, name) => {
    const things = `/apis/${GROUP}/v1/gadgets`
    const thing = { apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name }, spec: { a: 1, b: 2 } }
    await plane.prepare('POST', CRDS, { body: definition(object({ a: { type: 'integer' } })) })
    await plane.until('the kind is served', things, ({ status }) => status === 200)
    await plane.call('established', 'GET', AT)
    await plane.call('a thing', 'POST', things, { body: thing })
    await plane.prepare('PATCH', AT, {
      body: {
        spec: {
          versions: definition(
            object({ a: { type: 'integer', maximum: 0 }, b: { type: 'integer', default: 5 } }),
          ).spec.versions,
        },
      },
      contentType: MERGE,
    })
    await plane.until('the new schema is served', `${things}/${name}`, ({ body }) =>
      JSON.stringify(body).includes('"b":5'),
    )
    await plane.call('by the new schema', 'GET', `${things}/${name}`)
    await plane.call('tolerated', 'PATCH', `${things}/${name}`, {
      body: { metadata: { labels: { a: 'b' } } },
      contentType: MERGE,
    })
    await plane.call('not tolerated', 'PATCH', `${things}/${name}`, {
      body: { spec: { a: 2 } },
      contentType: MERGE,
    })
    await plane.call('another scope', 'PATCH', AT, {
      body: { spec: { scope: 'Namespaced' } },
      contentType: MERGE,
    })
    await plane.prepare('DELETE', AT)
    await plane.until('the definition is gone', AT, ({ status }) => status === 404)
    await plane.until('the kind is not served', things, ({ status }) => status === 404)
    await plane.call('gone', 'GET', `${things}/${name}`)
  })
})
