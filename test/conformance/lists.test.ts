import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { JOBS, job } from './objects.ts'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'

describeBoth('both planes on lists', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('page through a list', planes, async (plane, name) => {
    const at = (query: string) => `${JOBS}?labelSelector=list%3D${name}&${query}`
    for (const i of [0, 1, 2, 3, 4])
      await plane.prepare('POST', JOBS, {
        body: job(`${name}-${i}`, { metadata: { labels: { list: name } } }),
      })
    const { body } = await plane.call('first page', 'GET', at('limit=2'))
    const next = (answer: unknown) =>
      encodeURIComponent((answer as { metadata: { continue?: string } }).metadata.continue ?? '')
    await plane.prepare('DELETE', `${JOBS}/${name}-3`)
    const second = await plane.page('second page', at(`limit=2&continue=${next(body)}`))
    await plane.page('third page', at(`limit=2&continue=${next(second.body)}`))
    await plane.call('all', 'GET', at('limit=500'))
    await plane.call('no token', 'GET', at('limit=2&continue=nonsense'))
    await plane.call('no number', 'GET', at('limit=many'))
    await plane.call('at any version', 'GET', at('resourceVersion=0'))
    await plane.call(
      'at a version yet to come',
      'GET',
      at('resourceVersion=999999999&resourceVersionMatch=Exact'),
    )
    await plane.call('an odd match', 'GET', at('resourceVersionMatch=Exact'))
  })

  itAgrees('answer as table and as metadata', planes, async (plane, name) => {
    await plane.prepare('POST', JOBS, { body: job(name) })
    await plane.call('table', 'GET', `${JOBS}?fieldSelector=metadata.name%3D${name}`, { accept: TABLE })
    await plane.call('table of one', 'GET', `${JOBS}/${name}`, { accept: TABLE })
    await plane.call(
      'table with objects',
      'GET',
      `${JOBS}?fieldSelector=metadata.name%3D${name}&includeObject=Object`,
      { accept: TABLE },
    )
    await plane.call('metadata', 'GET', `${JOBS}?fieldSelector=metadata.name%3D${name}`, { accept: METADATA })
    await plane.call('nothing that is served', 'GET', `${JOBS}/${name}`, { accept: 'text/plain' })
  })

  itAgrees('delete a collection', planes, async (plane, name) => {
    for (const i of [0, 1, 2])
      await plane.prepare('POST', JOBS, {
        body: job(`${name}-${i}`, { metadata: { labels: { list: name, i: String(i) } } }),
      })
    await plane.call('some', 'DELETE', `${JOBS}?labelSelector=list%3D${name},i!%3D1`)
    await plane.call('rest', 'GET', `${JOBS}?labelSelector=list%3D${name}`)
  })

  itAgrees('say what they do not serve', planes, async (plane) => {
    await plane.call('no such kind', 'GET', '/apis/operations.kubeedge.io/v1alpha2/nodeupgrades')
    await plane.call('no such version', 'GET', '/apis/operations.kubeedge.io/v1/nodeupgradejobs')
    await plane.call('no such group', 'GET', '/apis/none.example.com/v1/things')
    await plane.call('no such method', 'PUT', JOBS, { body: {} })
    await plane.call('no such method on one', 'POST', `${JOBS}/a`, { body: {} })
    await plane.call('no such subresource', 'GET', `${JOBS}/a/scale`)
  })
})
