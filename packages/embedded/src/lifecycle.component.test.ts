import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, listAt, stringAt } from './json.ts'
import { MERGE, TestApi, take } from './testing/test-api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const PODS = '/api/v1/namespaces/default/pods'
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'

let api: TestApi

beforeAll(async () => {
  api = await TestApi.start()
})

afterAll(async () => {
  await api.stop()
})

function widgets(spec: object, more: object = {}): object {
  const openAPIV3Schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: spec },
      status: { type: 'object', properties: { phase: { type: 'string' } } },
    },
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema },
    subresources: { status: {} },
  }
  const names = { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] }
  const group = 'example.com'
  return {
    metadata: { name: 'widgets.example.com' },
    spec: { group, scope: 'Namespaced', names, versions: [{ ...version, ...more }] },
  }
}

async function owned(name: string, owner: string, more: object = {}): Promise<void> {
  const uid = stringAt(await api.get(`${MAPS}/${owner}`), 'metadata', 'uid')
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid, ...more }]
  await api.create(MAPS, { metadata: { name, ownerReferences } })
}

describe('what is owned', () => {
  it('goes with its owner, through generations', async () => {
    await api.create(MAPS, { metadata: { name: 'grandparent' } })
    await owned('parent', 'grandparent')
    await owned('child', 'parent')
    await api.remove(`${MAPS}/grandparent`)
    await api.until(`${MAPS}/parent`, 404)
    expect(await api.until(`${MAPS}/child`, 404)).toMatchObject({ reason: 'NotFound' })
  })

  it('goes before an owner that is deleted in the foreground', async () => {
    await api.create(MAPS, { metadata: { name: 'patient' } })
    await owned('blocking', 'patient', { blockOwnerDeletion: true })
    await api.patch(`${MAPS}/blocking`, { metadata: { finalizers: ['example.com/hold'] } })
    await api.remove(`${MAPS}/patient`, { propagationPolicy: 'Foreground' })
    expect(at(await api.get(`${MAPS}/patient`), 'metadata', 'finalizers')).toEqual(['foregroundDeletion'])
    await api.patch(`${MAPS}/blocking`, { metadata: { finalizers: null } })
    await api.until(`${MAPS}/patient`, 404)
    expect((await api.call('GET', `${MAPS}/blocking`)).status).toBe(404)
  })

  it('stays without its owner where it is orphaned', async () => {
    await api.create(MAPS, { metadata: { name: 'leaving' } })
    await owned('orphan', 'leaving')
    await api.remove(`${MAPS}/leaving`, { propagationPolicy: 'Orphan' })
    await api.until(`${MAPS}/leaving`, 404)
    expect(at(await api.get(`${MAPS}/orphan`), 'metadata', 'ownerReferences')).toBeUndefined()
  })

  it('stays while another owner lives, without the reference to who is gone', async () => {
    await api.create(MAPS, { metadata: { name: 'first' } })
    await api.create(MAPS, { metadata: { name: 'second' } })
    const refs = await Promise.all(
      ['first', 'second'].map(async (name) => {
        const uid = stringAt(await api.get(`${MAPS}/${name}`), 'metadata', 'uid')
        return { apiVersion: 'v1', kind: 'ConfigMap', name, uid }
      }),
    )
    await api.create(MAPS, { metadata: { name: 'shared', ownerReferences: refs } })
    const revision = stringAt(await api.get(MAPS), 'metadata', 'resourceVersion')
    await api.remove(`${MAPS}/first`)
    await take(api.watch(`${MAPS}?resourceVersion=${revision}&fieldSelector=metadata.name%3Dshared`), 1)
    expect(at(await api.get(`${MAPS}/shared`), 'metadata', 'ownerReferences')).toEqual([refs[1]])
  })

  it('goes at once when its owner never was, and stays when nobody here can know', async () => {
    const stranger = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'nobody' }
    await api.create(MAPS, { metadata: { name: 'stray', ownerReferences: [stranger] } })
    await api.until(`${MAPS}/stray`, 404)
    const foreign = { ...stranger, apiVersion: 'apps/v1', kind: 'Deployment' }
    await api.create(MAPS, { metadata: { name: 'foreign', ownerReferences: [foreign] } })
    await api.create(MAPS, { metadata: { name: 'after' } })
    expect((await api.call('GET', `${MAPS}/foreign`)).status).toBe(200)
  })

  it('is collected by the next process when the first one died in between', async () => {
    const first = await TestApi.start()
    await first.create(MAPS, { metadata: { name: 'owner' } })
    const uid = stringAt(await first.get(`${MAPS}/owner`), 'metadata', 'uid')
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
    await first.create(MAPS, {
      metadata: { name: 'left', ownerReferences, finalizers: ['example.com/hold'] },
    })
    await first.remove(`${MAPS}/owner`)
    await first.until(`${MAPS}/owner`, 404)
    const { dataDir } = first
    await first.stopKeeping()
    const second = await TestApi.start({ dataDir })
    await second.patch(`${MAPS}/left`, { metadata: { finalizers: null } })
    expect(await second.until(`${MAPS}/left`, 404)).toMatchObject({ reason: 'NotFound' })
    await second.stopRemoving()
  })
})

describe('a namespace', () => {
  it('takes all that is in it along, and takes nothing new meanwhile', async () => {
    await api.create('/api/v1/namespaces', { metadata: { name: 'short' } })
    const maps = '/api/v1/namespaces/short/configmaps'
    await api.create(maps, { metadata: { name: 'plain' } })
    await api.create(maps, { metadata: { name: 'held', finalizers: ['example.com/hold'] } })
    await api.create('/api/v1/namespaces/short/pods', {
      metadata: { name: 'running' },
      spec: { nodeName: 'n', containers: [{ name: 'a', image: 'b' }] },
    })
    await api.remove('/api/v1/namespaces/short')
    await api.until(`${maps}/plain`, 404)
    await api.until('/api/v1/namespaces/short/pods/running', 404)
    expect((await api.call('POST', maps, { metadata: { name: 'late' } })).status).toBe(403)
    await api.patch(`${maps}/held`, { metadata: { finalizers: null } })
    await api.until('/api/v1/namespaces/short', 404)
    expect((await api.call('POST', maps, { metadata: { name: 'late' } })).status).toBe(404)
  })
})

describe('a definition', () => {
  it('is served in the moment of its creation, and gone with its last object', async () => {
    await api.create(CRDS, widgets({ size: { type: 'integer' } }))
    const widget = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a', finalizers: ['example.com/x'] },
      spec: { size: 1 },
    }
    await api.create(WIDGETS, widget)
    expect(
      listAt(await api.get('/apis/example.com/v1'), 'resources').map((r) => stringAt(r, 'name')),
    ).toEqual(['widgets', 'widgets/status'])
    await api.remove(`${CRDS}/widgets.example.com`)
    expect((await api.call('POST', WIDGETS, { ...widget, metadata: { name: 'b' } })).status).toBe(403)
    await api.patch(`${WIDGETS}/a`, { metadata: { finalizers: null } })
    await api.until(`${CRDS}/widgets.example.com`, 404)
    expect((await api.call('GET', WIDGETS)).status).toBe(404)
    expect((await api.call('GET', '/apis/example.com')).status).toBe(404)
  })

  it('shows stored objects by its schema of now, and writes nothing for that', async () => {
    await api.create(CRDS, widgets({ size: { type: 'integer' }, old: { type: 'string' } }))
    const spec = { size: 1, old: 'x' }
    const created = await api.create(WIDGETS, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
      spec,
    })
    const crd = await api.get(`${CRDS}/widgets.example.com`)
    const next = widgets({ size: { type: 'integer' }, colour: { type: 'string', default: 'red' } }) as {
      spec: object
    }
    await api.patch(`${CRDS}/widgets.example.com`, { spec: next.spec })
    expect(await api.get(`${WIDGETS}/a`)).toMatchObject({
      metadata: { resourceVersion: at(created, 'metadata', 'resourceVersion') },
      spec: { size: 1, colour: 'red' },
    })
    expect(at(await api.get(`${WIDGETS}/a`), 'spec', 'old')).toBeUndefined()
    expect(at(crd, 'metadata', 'generation')).toBe(1)
    expect(at(await api.get(`${CRDS}/widgets.example.com`), 'metadata', 'generation')).toBe(2)
  })

  it('is there again after a restart', async () => {
    const first = await TestApi.start()
    await first.create(CRDS, widgets({ size: { type: 'integer' } }))
    await first.create(WIDGETS, {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
      spec: { size: 7 },
    })
    const { dataDir } = first
    await first.stopKeeping()
    const second = await TestApi.start({ dataDir })
    expect(await second.get(`${WIDGETS}/a`)).toMatchObject({ spec: { size: 7 } })
    await second.stopRemoving()
  })

  it('keeps status and spec apart', async () => {
    const widget = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'split' },
      spec: { size: 1 },
      status: { phase: 'X' },
    }
    expect(await api.create(WIDGETS, widget)).not.toHaveProperty('status')
    const status = await api.patch(`${WIDGETS}/split/status`, {
      spec: { size: 9 },
      status: { phase: 'Up' },
      metadata: { labels: { a: 'b' } },
    })
    expect(status).toMatchObject({ spec: { size: 1 }, status: { phase: 'Up' }, metadata: { generation: 1 } })
    expect(at(status, 'metadata', 'labels')).toBeUndefined()
    const main = await api.patch(`${WIDGETS}/split`, { spec: { size: 2 }, status: { phase: 'Down' } })
    expect(main).toMatchObject({ spec: { size: 2 }, status: { phase: 'Up' }, metadata: { generation: 2 } })
  })

  it('of two that want one name is accepted once', async () => {
    const rival = widgets({}) as { spec: { names: object } }
    const names = { plural: 'others', kind: 'Other', shortNames: ['wd'] }
    const created = await api.create(CRDS, {
      ...rival,
      metadata: { name: 'others.example.com' },
      spec: { ...rival.spec, names },
    })
    expect(listAt(created, 'status', 'conditions')).toMatchObject([
      { type: 'NamesAccepted', status: 'False', reason: 'NameConflict' },
      { type: 'Established', status: 'False' },
    ])
    expect((await api.call('GET', '/apis/example.com/v1/others')).status).toBe(404)
  })
})

describe('an eviction', () => {
  const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } })

  async function run(name: string, app: string, ready: boolean): Promise<void> {
    await api.create(PODS, {
      metadata: { name, labels: { app } },
      spec: { nodeName: 'n', containers: [{ name: 'a', image: 'b' }] },
    })
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }]
    await api.patch(`${PODS}/${name}/status`, { status: { phase: 'Running', conditions } })
  }

  it('is counted by hand where no controller keeps the budget', async () => {
    await run('web-1', 'web', true)
    await run('web-2', 'web', true)
    await api.create('/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
      metadata: { name: 'web' },
      spec: { minAvailable: '50%', selector: { matchLabels: { app: 'web' } } },
    })
    expect((await api.call('POST', `${PODS}/web-1/eviction`, eviction('web-1'))).status).toBe(201)
    const pod = await api.get(`${PODS}/web-1`)
    expect(pod).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } })
    expect(listAt(pod, 'status', 'conditions').map((c) => stringAt(c, 'type'))).toEqual([
      'Ready',
      'DisruptionTarget',
    ])
    expect(await api.call('POST', `${PODS}/web-2/eviction`, eviction('web-2'))).toMatchObject({
      status: 429,
      body: { reason: 'TooManyRequests', details: { causes: [{ reason: 'DisruptionBudget' }] } },
    })
  })

  it('of a pod without a budget deletes it, and of none is not found', async () => {
    await run('free', 'free', true)
    expect((await api.call('POST', `${PODS}/free/eviction?dryRun=All`, eviction('free'))).status).toBe(201)
    expect(at(await api.get(`${PODS}/free`), 'metadata', 'deletionTimestamp')).toBeUndefined()
    expect((await api.call('POST', `${PODS}/free/eviction`, eviction('free'))).status).toBe(201)
    await api.remove(`${PODS}/free`, { gracePeriodSeconds: 0 })
    expect((await api.call('POST', `${PODS}/free/eviction`, eviction('free'))).status).toBe(404)
    expect((await api.call('POST', `${PODS}/other/eviction`, eviction('free'))).status).toBe(400)
  })
})

describe('both versions of events', () => {
  const CORE = '/api/v1/namespaces/default/events'
  const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events'

  it('are one object', async () => {
    await api.create(EVENTS, {
      metadata: { name: 'e' },
      regarding: { kind: 'Node', name: 'n' },
      reason: 'Spoke',
      note: 'hello',
      type: 'Normal',
      action: 'Speak',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      eventTime: '2026-01-01T00:00:00.000000Z',
    })
    expect(await api.get(`${CORE}/e`)).toMatchObject({
      involvedObject: { kind: 'Node', name: 'n' },
      message: 'hello',
      reportingComponent: 'example.com/c',
    })
    const series = { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' }
    const patched = await api.call('PATCH', `${EVENTS}/e`, { series }, { 'content-type': MERGE })
    expect(patched.body).toMatchObject({ series, note: 'hello' })
    expect(listAt(await api.get(`${CORE}?fieldSelector=involvedObject.name%3Dn`), 'items').length).toBe(1)
    expect(listAt(await api.get(`${EVENTS}?fieldSelector=regarding.name%3Dm`), 'items').length).toBe(0)
  })
})
