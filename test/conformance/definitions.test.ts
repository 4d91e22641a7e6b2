import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import {
  AT,
  BAD_RULES,
  BAD_SCHEMAS,
  definition,
  GROUP,
  object,
  rules,
  type Schema,
} from './definition-cases.ts'
import { CRDS, MERGE } from './objects.ts'
import type { Recorder } from './recorder.ts'

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
      BAD_RULES.map(([title, rule]) => [`rule: ${title}`, schema(rule)]),
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
