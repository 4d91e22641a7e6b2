import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { BAD_JOBS, GOOD_SPECS } from './job-cases.ts'
import { JOBS, JOBS_V1ALPHA1, JSON_PATCH, job, MERGE, STRATEGIC } from './objects.ts'

describeBoth('both planes on jobs', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('refuse every bad job alike, through both versions', planes, async (plane, name) => {
    for (const { title, spec } of BAD_JOBS) {
      await plane.call(title, 'POST', JOBS, { body: job(name, { spec }) })
      await plane.call(title, 'POST', JOBS_V1ALPHA1, { body: job(name, { spec, version: 'v1alpha1' }) })
    }
  })

  itAgrees('store every good job alike, and show it in both versions', planes, async (plane, name) => {
    for (const [i, [title, spec]] of GOOD_SPECS.entries()) {
      const version = i % 2 === 0 ? 'v1alpha1' : 'v1alpha2'
      const body = job(`${name}-${i}`, { spec, version })
      await plane.call(title, 'POST', version === 'v1alpha1' ? JOBS_V1ALPHA1 : JOBS, { body })
      await plane.call(title, 'GET', `${JOBS}/${name}-${i}`)
      await plane.call(title, 'GET', `${JOBS_V1ALPHA1}/${name}-${i}`)
    }
  })

  itAgrees('count generations, and no change is no change', planes, async (plane, name) => {
    const path = `${JOBS}/${name}`
    await plane.call('create', 'POST', JOBS, { body: job(name) })
    await plane.call('same label twice', 'PATCH', path, {
      body: { metadata: { labels: { a: 'b' } } },
      contentType: MERGE,
    })
    await plane.call('same label twice', 'PATCH', path, {
      body: { metadata: { labels: { a: 'b' } } },
      contentType: MERGE,
    })
    await plane.call('control', 'PATCH', path, { body: { control: { paused: true } }, contentType: MERGE })
    await plane.call('status by the main resource', 'PATCH', path, {
      body: { status: { phase: 'X' } },
      contentType: MERGE,
    })
    await plane.call('status', 'PATCH', `${path}/status`, {
      body: { status: { phase: 'InProgress', progress: '1/2' } },
      contentType: MERGE,
    })
    await plane.call('spec by status', 'PATCH', `${path}/status`, {
      body: { spec: { version: 'v9.9.9' }, metadata: { labels: { x: 'y' } } },
      contentType: MERGE,
    })
    await plane.call('status read', 'GET', `${path}/status`)
    await plane.call('control gone', 'PATCH', path, { body: { control: null }, contentType: MERGE })
    await plane.call('spec changed', 'PATCH', path, {
      body: { spec: { version: 'v1.13.0' } },
      contentType: MERGE,
    })
    await plane.call('spec changed by the other version', 'PATCH', `${JOBS_V1ALPHA1}/${name}`, {
      body: [{ op: 'replace', path: '/spec/version', value: 'v1.13.0' }],
      contentType: JSON_PATCH,
    })
    await plane.call('read', 'GET', path)
  })

  itAgrees('let a stale writer know, and nobody else', planes, async (plane, name) => {
    const path = `${JOBS}/${name}`
    const { body } = await plane.call('create', 'POST', JOBS, { body: job(name) })
    const stored = body as { metadata: { resourceVersion: string; uid: string } }
    await plane.call('move on', 'PATCH', path, {
      body: { metadata: { labels: { a: '1' } } },
      contentType: MERGE,
    })
    await plane.call('stale put', 'PUT', path, { body: stored })
    await plane.call('put without version', 'PUT', path, { body: job(name) })
    await plane.call('stale patch', 'PATCH', path, {
      body: { metadata: { resourceVersion: stored.metadata.resourceVersion, labels: { a: '2' } } },
      contentType: MERGE,
    })
    await plane.call('patch of another uid', 'PATCH', path, {
      body: { metadata: { uid: '00000000-0000-0000-0000-000000000000' } },
      contentType: MERGE,
    })
    await plane.call('put under another name', 'PUT', path, { body: job(`${name}-other`) })
    await plane.call('create again', 'POST', JOBS, { body: job(name) })
    await plane.call('put of nobody', 'PUT', `${path}-none`, { body: job(`${name}-none`) })
    await plane.call('patch of nobody', 'PATCH', `${path}-none`, { body: {}, contentType: MERGE })
    await plane.call('get of nobody', 'GET', `${path}-none`)
    await plane.call('delete of nobody', 'DELETE', `${path}-none`)
  })

  itAgrees('patch alike', planes, async (plane, name) => {
    const path = `${JOBS}/${name}`
    await plane.call('create', 'POST', JOBS, {
      body: job(name, { metadata: { labels: { a: 'b' }, annotations: { 'x/y': 'z' } } }),
    })
    const json = async (title: string, body: unknown) =>
      plane.call(title, 'PATCH', path, { body, contentType: JSON_PATCH })
    await json('add', [{ op: 'add', path: '/metadata/labels/c', value: 'd' }])
    await json('escaped', [{ op: 'remove', path: '/metadata/annotations/x~1y' }])
    await json('test that holds', [
      { op: 'test', path: '/metadata/labels/a', value: 'b' },
      { op: 'replace', path: '/metadata/labels/a', value: 'e' },
    ])
    await json('test that does not', [{ op: 'test', path: '/metadata/labels/a', value: 'b' }])
    await json('remove of nothing', [{ op: 'remove', path: '/metadata/labels/none' }])
    await json('copy and move', [
      { op: 'copy', from: '/metadata/labels/a', path: '/metadata/labels/f' },
      { op: 'move', from: '/metadata/labels/f', path: '/metadata/labels/g' },
    ])
    await json('no list', { op: 'add' })
    await json('no operation', [{ op: 'jump', path: '/metadata/labels/a' }])
    await plane.call('merge of a text', 'PATCH', path, { body: '"text"', contentType: MERGE })
    await plane.call('merge of no JSON', 'PATCH', path, { body: '{', contentType: MERGE })
    await plane.call('strategic', 'PATCH', path, {
      body: { metadata: { labels: { a: 'x' } } },
      contentType: STRATEGIC,
    })
    await plane.call('plain JSON', 'PATCH', path, { body: { metadata: {} }, contentType: 'application/json' })
    await plane.call('unknown field', 'PATCH', `${path}?fieldValidation=Strict`, {
      body: { control: { pause: true } },
      contentType: MERGE,
    })
    await plane.call('unknown field, warned of', 'PATCH', path, {
      body: { control: { pause: true, paused: true } },
      contentType: MERGE,
    })
  })

  itAgrees('validate fields and dry-run alike', planes, async (plane, name) => {
    const unknown = {
      ...job(name),
      extra: 1,
      spec: { version: 'v1.12.0', nodeNames: ['a'], more: { deep: 1 } },
    }
    await plane.call('strict', 'POST', `${JOBS}?fieldValidation=Strict`, { body: unknown })
    await plane.call('ignore', 'POST', `${JOBS}?fieldValidation=Ignore&dryRun=All`, { body: unknown })
    await plane.call('warn', 'POST', `${JOBS}?fieldValidation=Warn&dryRun=All`, { body: unknown })
    await plane.call('unknown validation', 'POST', `${JOBS}?fieldValidation=Maybe`, { body: unknown })
    await plane.call('unknown dry run', 'POST', `${JOBS}?dryRun=Some`, { body: job(name) })
    const twice = `{"apiVersion":"operations.kubeedge.io/v1alpha2","kind":"NodeUpgradeJob","metadata":{"name":"${name}"},"spec":{"version":"v1.12.0","version":"v1.12.1","nodeNames":["a"]}}`
    await plane.call('a key twice, strict', 'POST', `${JOBS}?fieldValidation=Strict`, { body: twice })
    await plane.call('a key twice, warned of', 'POST', `${JOBS}?dryRun=All`, { body: twice })
    await plane.call('nothing was stored', 'GET', `${JOBS}/${name}`)
    await plane.call('create', 'POST', JOBS, { body: job(name) })
    await plane.call('dry patch', 'PATCH', `${JOBS}/${name}?dryRun=All`, {
      body: { metadata: { labels: { a: 'b' } } },
      contentType: MERGE,
    })
    await plane.call('dry delete', 'DELETE', `${JOBS}/${name}?dryRun=All`)
    await plane.call('all is as it was', 'GET', `${JOBS}/${name}`)
  })

  itAgrees('refuse what is no job alike', planes, async (plane, name) => {
    await plane.call('no JSON', 'POST', JOBS, { body: '{"a":' })
    await plane.call('a list', 'POST', JOBS, { body: '[]' })
    await plane.call('another kind', 'POST', JOBS, { body: { ...job(name), kind: 'Pod' } })
    await plane.call('another version', 'POST', JOBS, { body: job(name, { version: 'v1alpha1' }) })
    await plane.call('no kind', 'POST', JOBS, { body: { metadata: { name } } })
    await plane.call('no name', 'POST', JOBS, { body: { ...job(name), metadata: {} } })
    await plane.call('a bad name', 'POST', JOBS, { body: job('Upper_Case') })
    await plane.call('a long name', 'POST', JOBS, { body: job('a'.repeat(254)) })
    await plane.call('a namespace', 'POST', JOBS, { body: job(name, { metadata: { namespace: 'default' } }) })
    await plane.call('bad labels', 'POST', JOBS, {
      body: job(name, { metadata: { labels: { 'a b': 'c d', ok: 'x'.repeat(64) } } }),
    })
    await plane.call('labels that are no texts', 'POST', JOBS, {
      body: job(name, { metadata: { labels: { a: 1 } } }),
    })
    await plane.call('a bad finalizer', 'POST', JOBS, {
      body: job(name, { metadata: { finalizers: ['nodomain'] } }),
    })
    await plane.call('a bad owner', 'POST', JOBS, {
      body: job(name, {
        metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: '', uid: '' }] },
      }),
    })
    await plane.call('a uid of its own', 'POST', JOBS, {
      body: job(name, { metadata: { uid: 'mine', resourceVersion: '', generation: 7 } }),
    })
    await plane.call('a resource version', 'POST', JOBS, {
      body: job(`${name}-2`, { metadata: { resourceVersion: '5' } }),
    })
    await plane.call('generated', 'POST', `${JOBS}?dryRun=All`, {
      body: job('', { metadata: { generateName: '' } }),
    })
  })
})
