import {
  type Cause,
  type Crd,
  compileCrd,
  defaultCrd,
  type JsonObject,
  validateCrd,
} from '@upgrade-hub/embedded/schema'
import { beforeAll, expect, it } from 'vitest'
import { call, uniqueName, until } from '../harness/index.ts'
import { describeReal } from './compare.ts'
import { BAD_RULES, BAD_SCHEMAS, definition, object, rules } from './definition-cases.ts'
import { CRDS } from './objects.ts'
import { JOB_CRD, TASK_CRD, told, toldBy, toldByUs } from './verdict.ts'
import { CHANGED_WIDGETS, NEW_WIDGETS, WIDGET_CRD, WIDGETS, widget } from './widgets.ts'

const schema = compileCrd(WIDGET_CRD, 'v1')

describeReal('our engine on every word of a schema', (real) => {
  beforeAll(async () => {
    await call(real, 'POST', CRDS, { body: WIDGET_CRD })
    await until('widgets are served', async () => (await call(real, 'GET', WIDGETS)).status === 200)
  })

  it.each(NEW_WIDGETS.map((spec) => [JSON.stringify(spec) ?? 'no spec', spec] as const))(
    'tells of a new object what the API server tells: %s',
    async (_, spec) => {
      const object = widget(uniqueName('w'), spec)
      const answer = await call(real, 'POST', `${WIDGETS}?dryRun=All&fieldValidation=Warn`, { body: object })
      expect(toldByUs(WIDGET_CRD, object)).toEqual(toldBy(answer))
      const { object: pruned, unknown } = schema.prune(object as unknown as JsonObject)
      expect(unknown.map((path) => `299 - "unknown field \\"${path}\\""`).join(', ')).toBe(
        answer.headers.warning ?? '',
      )
      const ours = schema.applyDefaults(pruned).spec
      expect(ours).toEqual(answer.status === 201 ? (answer.body as { spec?: unknown }).spec : ours)
    },
  )

  it.each(CHANGED_WIDGETS.map((change) => [JSON.stringify(change), change] as const))(
    'tells of a change what the API server tells: %s',
    async (_, [before, after]) => {
      const first = widget(uniqueName('w'), before)
      const { body: stored, status } = await call(real, 'POST', WIDGETS, { body: first })
      expect(status).toBe(201)
      const next = {
        ...widget(first.metadata.name, after),
        metadata: (stored as { metadata: object }).metadata,
      }
      const answer = await call(real, 'PUT', `${WIDGETS}/${first.metadata.name}`, { body: next })
      expect(toldByUs(WIDGET_CRD, next, stored)).toEqual(toldBy(answer))
    },
  )

  it('publishes a kind and its list as the API server does', async () => {
    const published = await until('the schema is published', async () => {
      const { body } = await call(real, 'GET', '/openapi/v3/apis/conformance.upgradehub.io/v1')
      return (body as { components?: { schemas: Record<string, unknown> } }).components?.schemas
    })
    expect(schema.openApi()).toEqual(published['io.upgradehub.conformance.v1.Widget'])
    expect(schema.openApiList()).toEqual(published['io.upgradehub.conformance.v1.WidgetList'])
  })
})

describeReal('our engine on definitions', (real) => {
  it.each(BAD_SCHEMAS)('tells what the API server tells: %s', async (_, schema) => {
    const body = definition(schema)
    const answer = await call(real, 'POST', `${CRDS}?dryRun=All`, { body })
    const ours = told(validateCrd(defaultCrd(body as Crd)))
    expect(ours).toEqual(toldBy(answer))
    expect(ours).not.toEqual([])
  })

  it.each(BAD_RULES)('refuses at the same place a rule with %s', async (_, rule) => {
    const body = definition(object({ a: { type: 'integer', maximum: 5 } }, rules({ rule })))
    const answer = await call(real, 'POST', `${CRDS}?dryRun=All`, { body })
    const place = ({ field, reason }: Cause) => `${field} ${reason}`
    const { causes } = (answer.body as { details: { causes: readonly Cause[] } }).details
    expect(validateCrd(defaultCrd(body as Crd)).map(place)).toEqual(causes.map(place))
  })

  it('accepts our kinds, as the API server does', () => {
    expect([JOB_CRD, TASK_CRD, WIDGET_CRD].flatMap((crd) => validateCrd(crd))).toEqual([])
  })
})
