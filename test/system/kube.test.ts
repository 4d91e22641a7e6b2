import { silentLogger, systemClock } from '@upgrade-hub/core'
import {
  type Change,
  CONFIG_MAPS,
  type ConfigMap,
  connect,
  EVENTS,
  EventRecorder,
  Informer,
  type KubeClient,
  type KubeError,
  LEASES,
  LeaderElector,
  NODES,
  type Node,
} from '@upgrade-hub/kube'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findBinaries } from '../controlplane/binaries.ts'
import { describePlanes, type OwnedPlane, startRealPlane, until, writeKubeconfig } from '../harness/index.ts'

const namespace = 'default'

let plane: OwnedPlane
let client: KubeClient

/** Labelled, because an object that is created without any field has no managedFields until its first apply. */
const node = (name: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'node-role.kubernetes.io/edge': '' } },
})
const configMap = (name: string, labels = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels },
})
const failure = (promise: Promise<unknown>) => promise.then(String, (error: KubeError) => error)

describePlanes('our client', () => {
  // A plane of its own: these tests count objects and watch all of a kind.
  beforeAll(async () => {
    const binaries = findBinaries(process.env)
    if ('absent' in binaries) throw new Error(binaries.reason)
    plane = await startRealPlane({ binaries })
    client = await connect({ kubeconfig: plane.kubeconfigPath, clock: systemClock, log: silentLogger })
  }, 120_000)
  afterAll(async () => {
    await client?.close()
    await plane?.stop()
  }, 60_000)

  it('objects are created, changed in every way, and deleted', async () => {
    const created = await client.create(NODES, node('n1'), { fieldManager: 'test' })
    const merged = await client.patch(
      NODES,
      'n1',
      { spec: { unschedulable: true } },
      { fieldManager: 'upgradehub' },
    )
    expect(merged.metadata.managedFields?.map((field) => field.manager)).toContain('upgradehub')
    const status = { status: { nodeInfo: { kubeletVersion: 'v1' }, conditions: [] } }
    await client.patch(NODES, 'n1', status, { subresource: 'status' })
    await client.patch(NODES, 'n1', [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }], {
      type: 'json',
    })
    const applied = { ...node('n1'), metadata: { name: 'n1', annotations: { c: 'd' } } }
    await client.patch(NODES, 'n1', applied, { type: 'apply', fieldManager: 'applier', force: true })
    const read = await client.get(NODES, 'n1')
    expect(read).toMatchObject({
      metadata: { labels: { a: 'b' }, annotations: { c: 'd' } },
      spec: { unschedulable: true },
    })
    const replaced = await client.replace(NODES, { ...read, spec: {} })
    expect(replaced.spec?.unschedulable).toBeUndefined()
    expect(await failure(client.delete(NODES, 'n1', { uid: 'wrong' }))).toMatchObject({ isConflict: true })
    await client.delete(NODES, 'n1', { uid: created.metadata.uid ?? '' })
    expect(await failure(client.get(NODES, 'n1'))).toMatchObject({ isNotFound: true })
  })

  it('refusals are typed', async () => {
    await client.create(CONFIG_MAPS, configMap('typed'), { namespace })
    const where = { namespace }
    expect(await failure(client.create(CONFIG_MAPS, configMap('typed'), where))).toMatchObject({
      isAlreadyExists: true,
    })
    const stale = { metadata: { resourceVersion: '1' }, data: { a: 'b' } }
    expect(await failure(client.patch(CONFIG_MAPS, 'typed', stale, where))).toMatchObject({
      isConflict: true,
    })
    expect(await failure(client.create(CONFIG_MAPS, configMap('Not A Name'), where))).toMatchObject({
      isInvalid: true,
      causes: [{ field: 'metadata.name' }],
    })
    await client.create(CONFIG_MAPS, configMap('dry'), { ...where, dryRun: true })
    expect(await failure(client.get(CONFIG_MAPS, 'dry', where))).toMatchObject({ isNotFound: true })
    const kubeconfig = writeKubeconfig(plane, 'nobody')
    const nobody = await connect({ kubeconfig, clock: systemClock, log: silentLogger })
    expect(await failure(nobody.list(NODES))).toMatchObject({ isForbidden: true, retry: 'never' })
    await nobody.close()
  })

  it('lists are paged over one state', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, i) => client.create(NODES, node(`page-${i}`))))
    const names = new Set<string>()
    let next: string | undefined
    do {
      const page = await client.list(NODES, { limit: 7, ...(next ? { continue: next } : {}) })
      for (const item of page.items) names.add(item.metadata.name)
      expect(page.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'Node' })
      next = page.metadata.continue
    } while (next)
    expect([...names].filter((name) => name.startsWith('page-'))).toHaveLength(30)
  })

  it('an informer gets its first state from a watch, and follows a label selector', async () => {
    await client.create(CONFIG_MAPS, configMap('first', { in: 'yes' }), { namespace })
    const stop = new AbortController()
    const lists: string[] = []
    const informer = new Informer({
      client: new Proxy(client, {
        get: (target, name) => {
          if (name === 'list') lists.push('list')
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      }),
      resource: CONFIG_MAPS,
      namespace,
      labelSelector: 'in=yes',
      clock: systemClock,
      log: silentLogger,
    })
    const changes: Change<ConfigMap>[] = []
    const running = informer.run(stop.signal)
    await informer.synced()
    expect([informer.list().map((item) => item.metadata.name), lists]).toEqual([['first'], []])
    informer.onChange((change) => changes.push(change))
    await client.create(CONFIG_MAPS, configMap('second', { in: 'yes' }), { namespace })
    await client.create(CONFIG_MAPS, configMap('stranger'), { namespace })
    await client.patch(CONFIG_MAPS, 'first', { metadata: { labels: { in: 'no' } } }, { namespace })
    await client.delete(CONFIG_MAPS, 'second', { namespace })
    await until('three changes', () => changes.length === 3)
    expect(changes.map(({ type, key }) => `${type} ${key}`)).toEqual([
      'added default/second',
      'deleted default/first',
      'deleted default/second',
    ])
    stop.abort()
    await running
  })

  it('a watch of a quiet kind ends by itself when its time is over', async () => {
    const { metadata } = await client.list(CONFIG_MAPS, { namespace: 'nowhere' })
    const watch = client.watch(CONFIG_MAPS, {
      namespace: 'nowhere',
      resourceVersion: metadata.resourceVersion,
      timeoutSeconds: 1,
      signal: new AbortController().signal,
    })
    expect(await Array.fromAsync(watch)).toEqual([{ type: 'OPENED' }])
  })

  it('one replica leads, lets go, and the next one has a higher epoch', async () => {
    const elector = (identity: string) =>
      new LeaderElector({
        client,
        namespace,
        name: 'leader',
        identity,
        clock: systemClock,
        log: silentLogger,
      })
    const lead = (one: LeaderElector, signal: AbortSignal) => {
      const epoch = Promise.withResolvers<number>()
      const ended = one.run(signal, async (inner, number) => {
        epoch.resolve(number)
        await new Promise((resolve) => inner.addEventListener('abort', resolve, { once: true }))
      })
      return { ended, epoch: epoch.promise }
    }
    const [stopOne, stopTwo] = [new AbortController(), new AbortController()]
    const one = lead(elector('one'), stopOne.signal)
    const first = await one.epoch
    stopOne.abort()
    await one.ended
    const second = elector('two')
    const two = lead(second, stopTwo.signal)
    expect([first, await two.epoch, second.isLeader()]).toEqual([1, 2, true])
    stopTwo.abort()
    await two.ended
    expect((await client.get(LEASES, 'leader', { namespace })).spec).not.toHaveProperty('holderIdentity')
  })

  it('events are accepted, counted, and found by what they are about', async () => {
    const { metadata } = await client.create(NODES, node('told'))
    const recorder = new EventRecorder({
      client,
      reportingController: 'upgradehub.io/hub',
      reportingInstance: 'test',
      clock: systemClock,
      log: silentLogger,
    })
    const regarding = { apiVersion: 'v1', kind: 'Node', name: 'told', uid: metadata.uid ?? '' }
    const draft = { regarding, type: 'Normal', reason: 'Upgraded', note: 'v1.0.0 → v1.1.0' } as const
    recorder.record(draft)
    await recorder.flush()
    recorder.record(draft)
    recorder.record({ ...draft, note: 'x'.repeat(5_000) })
    await recorder.flush()
    const { items } = await client.list(EVENTS, { namespace, fieldSelector: 'reason=Upgraded' })
    expect(new Set(items.map((event) => event.series?.count))).toEqual(new Set([2, undefined]))
  })

  it('the clock of the server is that of this machine', () => {
    expect(Math.abs(client.serverOffsetMs())).toBeLessThan(1_000)
  })
})
