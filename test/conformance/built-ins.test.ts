import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { JSON_PATCH, MERGE, STRATEGIC } from './objects.ts'

const NODES = '/api/v1/nodes'
const HOLD = 'upgradehub.io/hold'

const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'node-role.kubernetes.io/edge': '' } },
})

const condition = (status: string) => ({
  type: 'Ready',
  status,
  reason: 'EdgeReady',
  message: '',
  lastHeartbeatTime: '2024-01-01T00:00:00Z',
  lastTransitionTime: '2024-01-01T00:00:00Z',
})

describeBoth('both planes on the built-in kinds', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('cordon and hold a node, and remember who did', planes, async (plane, name) => {
    const path = `${NODES}/${name}`
    const { body } = await plane.call('create', 'POST', NODES, { body: node(name) })
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata
    const take = {
      metadata: { resourceVersion, annotations: { [HOLD]: '{"epoch":1}' } },
      spec: { unschedulable: true },
    }
    await plane.call('take', 'PATCH', `${path}?fieldManager=upgradehub`, { body: take, contentType: MERGE })
    await plane.call('take again, too late', 'PATCH', `${path}?fieldManager=upgradehub`, {
      body: take,
      contentType: MERGE,
    })
    await plane.call('the kubelet speaks', 'PATCH', `${path}/status?fieldManager=kubelet`, {
      body: {
        status: { conditions: [condition('True')], nodeInfo: { kubeletVersion: 'v1.28.6-kubeedge-v1.11.0' } },
      },
      contentType: STRATEGIC,
    })
    await plane.call('and again', 'PATCH', `${path}/status?fieldManager=kubelet`, {
      body: {
        status: {
          conditions: [
            { ...condition('False'), reason: 'Gone' },
            { type: 'DiskPressure', status: 'False' },
          ],
        },
      },
      contentType: STRATEGIC,
    })
    await plane.call('a person cordons', 'PATCH', `${path}?fieldManager=kubectl-cordon`, {
      body: { spec: { unschedulable: true } },
      contentType: STRATEGIC,
    })
    await plane.call('a person uncordons', 'PATCH', `${path}?fieldManager=kubectl-cordon`, {
      body: { spec: { unschedulable: null } },
      contentType: STRATEGIC,
    })
    await plane.call('release', 'PATCH', `${path}?fieldManager=upgradehub`, {
      body: { metadata: { annotations: { [HOLD]: null } }, spec: { unschedulable: null } },
      contentType: MERGE,
    })
    await plane.call('taint', 'PATCH', path, {
      body: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } },
      contentType: STRATEGIC,
    })
    await plane.call('a bad taint', 'PATCH', path, {
      body: { spec: { taints: [{ key: 'a', effect: 'Never' }] } },
      contentType: STRATEGIC,
    })
    await plane.call('a bad label', 'PATCH', path, {
      body: { metadata: { labels: { 'a b': 'c' } } },
      contentType: MERGE,
    })
    await plane.call('read', 'GET', path)
    await plane.call(
      'by field',
      'GET',
      `${NODES}?fieldSelector=spec.unschedulable%3Dtrue,metadata.name%3D${name}`,
    )
    await plane.call('delete', 'DELETE', path)
  })

  itAgrees('lead by leases', planes, async (plane, name) => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    const spec = {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2024-01-01T00:00:00.000000Z',
      renewTime: '2024-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    }
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: 'default' },
      spec,
    }
    const { body } = await plane.call('create', 'POST', leases, { body: lease })
    const stored = body as { metadata: object }
    await plane.call('renew', 'PUT', `${leases}/${name}`, {
      body: { ...stored, spec: { ...spec, renewTime: '2024-01-01T00:00:05.123456Z' } },
    })
    await plane.call('renew late', 'PUT', `${leases}/${name}`, { body: { ...stored, spec } })
    await plane.call('a time of milliseconds', 'PUT', `${leases}/${name}`, {
      body: { ...lease, spec: { ...spec, renewTime: '2024-01-01T00:00:05.123Z' } },
    })
    await plane.call('no time', 'PUT', `${leases}/${name}`, {
      body: { ...lease, spec: { ...spec, renewTime: 'soon' } },
    })
    await plane.call('a negative duration', 'PUT', `${leases}/${name}`, {
      body: { ...lease, spec: { ...spec, leaseDurationSeconds: -1 } },
    })
    await plane.call('another namespace', 'POST', leases, {
      body: { ...lease, metadata: { name: `${name}-2`, namespace: 'kube-system' } },
    })
    await plane.call('a namespace that is not there', 'POST', leases.replace('default', 'nowhere'), {
      body: { ...lease, metadata: { name } },
    })
    await plane.call('delete', 'DELETE', `${leases}/${name}`)
  })

  itAgrees('keep secrets and configuration', planes, async (plane, name) => {
    const secrets = '/api/v1/namespaces/default/secrets'
    const maps = '/api/v1/namespaces/default/configmaps'
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      stringData: { a: 'text' },
      data: { b: Buffer.from('x').toString('base64') },
    }
    await plane.call('create', 'POST', secrets, { body: secret })
    await plane.call('data that is no base64', 'POST', secrets, {
      body: { ...secret, metadata: { name: `${name}-2` }, data: { b: '***' } },
    })
    await plane.call('a bad key', 'POST', secrets, {
      body: { ...secret, metadata: { name: `${name}-2` }, stringData: { 'a b': 'x' } },
    })
    await plane.call('a TLS secret without a key', 'POST', secrets, {
      body: { ...secret, metadata: { name: `${name}-2` }, type: 'kubernetes.io/tls' },
    })
    await plane.call('another type', 'PATCH', `${secrets}/${name}`, {
      body: { type: 'other' },
      contentType: MERGE,
    })
    await plane.call('immutable', 'PATCH', `${secrets}/${name}`, {
      body: { immutable: true },
      contentType: MERGE,
    })
    await plane.call('changed all the same', 'PATCH', `${secrets}/${name}`, {
      body: { stringData: { a: 'y' } },
      contentType: MERGE,
    })
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } }
    await plane.call('create', 'POST', maps, { body: map })
    await plane.call('patch', 'PATCH', `${maps}/${name}`, {
      body: [{ op: 'add', path: '/data/c', value: 'd' }],
      contentType: JSON_PATCH,
    })
    await plane.call('no text', 'PATCH', `${maps}/${name}`, { body: { data: { a: 1 } }, contentType: MERGE })
    await plane.call('unknown field', 'POST', `${maps}?fieldValidation=Strict`, {
      body: { ...map, extra: 1 },
    })
    await plane.call('a list of all', 'GET', `/api/v1/configmaps?fieldSelector=metadata.name%3D${name}`)
  })

  itAgrees('tell events', planes, async (plane, name) => {
    const events = '/apis/events.k8s.io/v1/namespaces/default/events'
    const event = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace: 'default' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      reportingController: 'upgradehub.io/hub',
      reportingInstance: 'hub-1',
      action: 'Upgrade',
      reason: 'NodeUpgraded',
      type: 'Normal',
      note: 'edge-1 runs v1.12.0',
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'edge-1', uid: 'edge-1' },
    }
    await plane.call('create', 'POST', events, { body: event })
    await plane.call('seen from the core group', 'GET', `/api/v1/namespaces/default/events/${name}`)
    await plane.call(
      'by field',
      'GET',
      `/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dedge-1,metadata.name%3D${name}`,
    )
    await plane.call('no action', 'POST', events, {
      body: { ...event, metadata: { name: `${name}-2` }, action: '' },
    })
    await plane.call('a type of its own', 'POST', events, {
      body: { ...event, metadata: { name: `${name}-2` }, type: 'Odd' },
    })
    await plane.call('a long note', 'POST', events, {
      body: { ...event, metadata: { name: `${name}-2` }, note: 'x'.repeat(1025) },
    })
    const core = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}-3` },
      involvedObject: { kind: 'Node', name: 'n', namespace: 'default' },
      reason: 'R',
      message: 'm',
      type: 'Normal',
      source: { component: 'c' },
      count: 1,
    }
    await plane.call('an old one', 'POST', '/api/v1/namespaces/default/events', { body: core })
    await plane.call('a series', 'PATCH', `${events}/${name}`, {
      body: { series: { count: 2, lastObservedTime: '2024-01-01T00:00:01.000000Z' } },
      contentType: MERGE,
    })
  })

  itAgrees('make and end namespaces', planes, async (plane, name) => {
    const path = `/api/v1/namespaces/${name}`
    await plane.call('create', 'POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    })
    await plane.prepare('POST', `${path}/configmaps`, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    })
    await plane.call('a bad name', 'POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } },
    })
    await plane.prepare('DELETE', path)
    await plane.until('the namespace is gone', path, ({ status }) => status === 404)
    await plane.call('gone with all in it', 'GET', `${path}/configmaps/a`)
  })
})
