import { type Crd, defaultCrd, type JsonSchema } from '@upgrade-hub/embedded/schema'

/** A kind that uses every word of structural schemas and every sort of rule that the engine knows. */
const text: JsonSchema = { type: 'string' }
const integer: JsonSchema = { type: 'integer' }
const object = (properties: Record<string, JsonSchema>, rest: JsonSchema = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...rest,
})
const list = (items: JsonSchema, rest: JsonSchema = {}): JsonSchema => ({ type: 'array', items, ...rest })
const formatted = (format: string): JsonSchema => ({ type: 'string', format })
const rule = (expression: string, rest: object = {}) => ({ rule: expression, ...rest })

const scalars: Record<string, JsonSchema> = {
  name: { type: 'string', minLength: 2, maxLength: 8, pattern: '^[a-z]+$' },
  int32: { type: 'integer', format: 'int32', minimum: -5, maximum: 10 },
  int64: { type: 'integer', format: 'int64' },
  plain: integer,
  above: { type: 'integer', minimum: 3, exclusiveMinimum: true },
  ratio: { type: 'number', multipleOf: 0.5, maximum: 100 },
  flag: { type: 'boolean' },
  mode: { type: 'string', enum: ['A', 'B'] },
  level: { type: 'integer', enum: [1, 2] },
  when: formatted('date-time'),
  day: formatted('date'),
  address: formatted('ipv4'),
  id: formatted('uuid'),
  span: formatted('duration'),
  bytes: formatted('byte'),
  percent: { 'x-kubernetes-int-or-string': true },
  nullable: { type: 'string', nullable: true },
}

const port = object(
  { port: integer, proto: { type: 'string', default: 'TCP' }, note: { type: 'string', maxLength: 4 } },
  {
    required: ['port'],
    'x-kubernetes-validations': [
      rule('self.port > 0', { message: 'port must be positive' }),
      rule('self.port != 13 || oldSelf.port == 13', { message: 'no new 13' }),
    ],
  },
)

const collections: Record<string, JsonSchema> = {
  tags: list(text, { 'x-kubernetes-list-type': 'set', minItems: 1, maxItems: 3 }),
  ports: list(port, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port', 'proto'] }),
  map: {
    type: 'object',
    maxProperties: 2,
    additionalProperties: object({ v: { type: 'integer', 'x-kubernetes-validations': [rule('self < 7')] } }),
  },
  open: object({ known: object({ a: integer }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
  raw: {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  },
  defaulted: object(
    { a: { type: 'integer', default: 2 }, b: { type: 'string', default: 'x' } },
    { default: { a: 1 } },
  ),
  defaults: list(object({ q: { type: 'integer', default: 9 } })),
}

const junctors: Record<string, JsonSchema> = {
  one: object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
  any: object({ a: text, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
  all: { type: 'string', allOf: [{ maxLength: 3 }, { pattern: '^x' }] },
  not: { type: 'string', not: { enum: ['bad'] } },
}

const rules = object(
  {
    a: integer,
    b: integer,
    s: { type: 'string', maxLength: 40 },
    list: list(integer, { maxItems: 10 }),
    'dash-ed': { type: 'string', maxLength: 40 },
    namespace: text,
    m: { type: 'object', maxProperties: 5, additionalProperties: { type: 'string', maxLength: 40 } },
    d: formatted('duration'),
    t: formatted('date-time'),
  },
  {
    'x-kubernetes-validations': [
      rule('!has(self.a) || self.a <= 5', {
        messageExpression: "'a is ' + (self.a > 10 ? 'huge' : 'big')",
        fieldPath: '.a',
      }),
      rule('!has(self.b) || self.list[self.b] == 1', { message: 'index' }),
      rule("!has(self.s) || self.s.matches('^ok')", { reason: 'FieldValueForbidden' }),
      rule("!has(self.__namespace__) || self.__namespace__ != 'bad'", {
        message: 'namespace',
        reason: 'FieldValueDuplicate',
      }),
      rule("!has(self.dash__dash__ed) || self.dash__dash__ed != 'bad'", {
        message: 'dash',
        fieldPath: "['dash-ed']",
      }),
      rule("!has(self.m) || self.m.all(k, self.m[k] != 'bad')", { message: 'map' }),
      rule("!has(self.m) || !('div' in self.m) || 1 / (size(self.m) - 1) > 0", { message: 'division' }),
      rule("!has(self.d) || self.d <= duration('1h')", { message: 'too long' }),
      rule("!has(self.t) || self.t > timestamp('2020-01-01T00:00:00Z')", { message: 'too old' }),
      rule('!has(self.list) || self.list.isSorted()', { message: 'not sorted' }),
      rule('!has(self.list) || size(self.list) == 0 || self.list.max() < 100', { message: 'too big' }),
      rule('!has(self.list) || sets.contains([1, 2, 3, 50], self.list)', { message: 'not in the set' }),
      rule('oldSelf == self || !has(oldSelf.a)', { message: 'a froze it' }),
    ],
  },
)

const spec = object(
  { ...scalars, ...collections, ...junctors, rules },
  {
    required: ['name'],
    'x-kubernetes-validations': [
      rule('self.name != "zz"', { message: 'no zz' }),
      rule(
        '!has(self.tags) || !has(oldSelf.tags) || self.tags == oldSelf.tags || size(self.tags) > size(oldSelf.tags)',
        { message: 'tags grow' },
      ),
      rule("oldSelf.hasValue() || self.name != 'create'", { optionalOldSelf: true, message: 'not at birth' }),
      rule("!has(self.percent) || type(self.percent) == int || self.percent.endsWith('%')", {
        message: 'int or percent',
      }),
    ],
  },
)

const GROUP = 'conformance.upgradehub.io'
export const WIDGETS = `/apis/${GROUP}/v1/widgets`

const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural: 'widgets', kind: 'Widget', singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: object({ spec, status: object({ n: { type: 'integer', maximum: 5 } }) }) },
        selectableFields: [{ jsonPath: '.spec.name' }, { jsonPath: '.spec.flag' }],
        additionalPrinterColumns: [{ name: 'Name', type: 'string', jsonPath: '.spec.name' }],
      },
    ],
  },
} as const

export const WIDGET_CRD: Crd = defaultCrd(crd)

export const widget = (name: string, fields: unknown) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { name },
  ...(fields === undefined ? {} : { spec: fields }),
})

/** `spec` of the given values of one field, beside a good name. */
const each = (field: string, values: readonly unknown[]) =>
  values.map((value) => ({ name: 'ok', [field]: value }))

/** Specs of new widgets; good ones and bad ones mixed. */
export const NEW_WIDGETS: readonly unknown[] = [
  undefined,
  {},
  null,
  'x',
  [],
  { name: 'zz' },
  { name: 'create' },
  ...['a', 'abcdefghi', 'ABC', 5, true, null, ['x'], { a: 1 }].map((name) => ({ name })),
  ...each('int32', [11, -6, 2 ** 40, 1.5, '5', true, [], {}, null, 1e20]),
  ...each('int64', [2 ** 53, 9.3e18, 1e300, '1']),
  ...each('plain', [1e300, 1.5, 'x', {}]),
  ...each('above', [3, 4]),
  ...each('ratio', [1.3, 1.5, 101, 'x', 3, 1_234_567.25]),
  ...each('flag', ['x', 1, null, true]),
  ...each('mode', ['C', 1, null, '', 'A']),
  ...each('level', [3, '1', 1]),
  ...each('when', [
    'x',
    '2020-01-01T00:00:00Z',
    '2020-13-01T00:00:00Z',
    '2020-01-01',
    '2020-01-01t01:02:03.5+01:00',
    5,
    [],
    '',
  ]),
  ...each('day', ['x', '2020-02-30', '2020-02-29']),
  ...each('address', ['1.2.3', '1.2.3.4', '::1']),
  ...each('id', ['x', '123e4567-e89b-12d3-a456-426614174000']),
  ...each('span', ['x', '1h30m', '1.5h', '', '5', '3 s']),
  ...each('bytes', ['aGk=', '***']),
  ...each('percent', [1, '5%', '5', 1.5, true, {}, null]),
  ...each('nullable', [null, 'x']),
  ...each('tags', [[], ['a', 'a'], ['a', 'b', 'a', 'a'], ['a', 'b', 'c', 'd'], 'x', [1], [null], {}]),
  ...each('ports', [
    [{ port: 1 }, { port: 1 }],
    [{ port: 1 }, { port: 1, proto: 'UDP' }],
    [{ port: 0 }],
    [{}],
    ['x'],
    [{ port: 1, note: 'toolong' }],
    [{ port: 1, x: 2 }],
    [null],
  ]),
  ...each('map', [
    { a: { v: 8 } },
    { a: { v: 1 }, b: {}, c: {} },
    { a: 5 },
    { 'x/y.z': { v: 8 } },
    [],
    { a: null },
  ]),
  ...each('open', [{ x: { y: null }, known: { a: 1, b: 2 }, z: [{ known: { q: 1 } }] }]),
  ...each('raw', [
    {},
    { apiVersion: 'v1', kind: 'Pod' },
    { apiVersion: 'v1' },
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, more: 1 },
  ]),
  ...each('defaulted', [{}, { a: null }, { b: null }, null]),
  ...each('defaults', [[{}, { q: null }, { q: 3 }]]),
  ...each('one', [{}, { a: 'x' }, { a: 'x', b: 'y' }]),
  ...each('any', [{}, { b: 'y' }]),
  ...each('all', ['xyz', 'xyzz', 'abc', 'abcd']),
  ...each('not', ['bad', 'good']),
  ...each('rules', [
    { a: 6 },
    { a: 60 },
    { a: 5 },
    { b: 0, list: [1] },
    { b: 3, list: [1] },
    { b: 0 },
    { b: -1, list: [1] },
    { s: 'no' },
    { s: 'ok' },
    { namespace: 'bad' },
    { 'dash-ed': 'bad' },
    { m: { a: 'bad' } },
    { m: { a: 'x' } },
    { m: { div: 'x' } },
    { m: { div: 'x', b: 'y' } },
    { d: '2h' },
    { d: '30m' },
    { t: '2019-01-01T00:00:00Z' },
    { t: '2021-01-01T00:00:00Z' },
    { list: [2, 1] },
    { list: [1, 50] },
    { list: [1, 200] },
    { list: [] },
  ]),
  { name: 'ok', unknown: 1, deep: { a: 1 }, rules: { x: 1, constructor: 2 } },
]

/** Specs before and after an update; the first of each is good. */
export const CHANGED_WIDGETS: readonly (readonly [unknown, unknown])[] = [
  [{ name: 'ok' }, { name: 'zz' }],
  [
    { name: 'ok', tags: ['a', 'b'] },
    { name: 'ok', tags: ['b', 'a'] },
  ],
  [
    { name: 'ok', tags: ['a', 'b'] },
    { name: 'ok', tags: ['b', 'c'] },
  ],
  [
    { name: 'ok', ports: [{ port: 12 }] },
    { name: 'ok', ports: [{ port: 13 }] },
  ],
  [
    { name: 'ok', ports: [{ port: 12 }] },
    { name: 'ok', ports: [{ port: 12, note: 'x' }] },
  ],
  [
    { name: 'ok', rules: { a: 1 } },
    { name: 'ok', rules: { a: 2 } },
  ],
  [
    { name: 'ok', rules: { a: 1, b: 0, list: [1] } },
    { name: 'ok', rules: { list: [1], b: 0, a: 1 } },
  ],
  [
    { name: 'ok', rules: {} },
    { name: 'ok', rules: { a: 2 } },
  ],
  [{ name: 'ok', rules: { m: {} } }, { name: 'create' }],
]
