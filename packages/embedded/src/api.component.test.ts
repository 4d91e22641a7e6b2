import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { at, listAt, stringAt } from './json.ts'
import { JSON_PATCH, MERGE, TestApi, take } from './testing/test-api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const NODES = '/api/v1/nodes'

let api: TestApi

beforeAll(async () => {
  api = await TestApi.start()
})

afterAll(async () => {
  await api.stop()
})

describe('the door', () => {
  it('lets in who has a token, and shows health and version to anyone', async () => {
    for (const authorization of ['', 'Bearer wrong', 'Basic YTpi']) {
      expect(await api.call('GET', NODES, undefined, { authorization })).toMatchObject({
        status: 401,
        body: { kind: 'Status', reason: 'Unauthorized', code: 401 },
      })
    }
    expect((await api.call('GET', '/readyz', undefined, { authorization: '' })).body).toEqual({ text: 'ok' })
    expect((await api.call('GET', '/version', undefined, { authorization: '' })).status).toBe(200)
  })

  it('gives a kubeconfig that carries all that a client needs', () => {
    const config = parse(api.kubeconfig()) as Record<string, unknown>
    expect(config).toMatchObject({
      clusters: [{ cluster: { server: api.url } }],
      users: [{ user: { token: 'admin-token' } }],
      'current-context': 'upgrade-hub',
    })
  })

  it('says so when the port is taken, and stops twice without harm', async () => {
    const port = Number(new URL(api.url).port)
    await expect(TestApi.start({ port })).rejects.toMatchObject({ code: 'EMBEDDED_LISTEN' })
    const other = await TestApi.start()
    await other.stopServer()
    await other.stop()
    await expect(other.call('GET', '/readyz')).rejects.toThrow('destroyed')
  })

  it('takes no body above three megabytes, and stores no object above one and a half', async () => {
    const large = (bytes: number) => ({ metadata: { name: 'large' }, data: { x: 'x'.repeat(bytes) } })
    expect((await api.call('POST', MAPS, large(3_200_000))).status).toBe(413)
    expect(await api.call('POST', MAPS, large(1_600_000))).toMatchObject({
      status: 413,
      body: { message: 'etcdserver: request is too large' },
    })
    expect((await api.call('GET', `${MAPS}/large`)).status).toBe(404)
  })

  it.each([
    ['{', 400],
    ['', 400],
    ['[]', 400],
    ['"text"', 400],
    [`${'['.repeat(2000)}`, 400],
    ['{"metadata":{"name":"x"},"data":{"a":1}}', 400],
  ])('refuses the body %s', async (body, status) => {
    expect((await api.call('POST', MAPS, body, { 'content-type': 'application/json' })).status).toBe(status)
  })

  it('refuses protobuf that is none, and protobuf for custom resources', async () => {
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' }
    expect((await api.call('POST', MAPS, 'k8s\0rubbish', headers)).status).toBe(400)
  })

  it('answers YAML where that is wanted, and reads it', async () => {
    const yaml = 'metadata: {name: from-yaml}\ndata: {a: "1"}\n'
    const type = { 'content-type': 'application/yaml', accept: 'application/yaml' }
    const created = await api.call('POST', MAPS, yaml, type)
    expect(created.status).toBe(201)
    expect(parse(stringAt(created.body, 'text'))).toMatchObject({ data: { a: '1' } })
  })
})

describe('writers', () => {
  it('that patch one object at once all succeed, and nothing is lost', async () => {
    await api.create(MAPS, { metadata: { name: 'busy' } })
    const keys = Array.from({ length: 50 }, (_, i) => `key-${i}`)
    await Promise.all(keys.map(async (key) => await api.patch(`${MAPS}/busy`, { data: { [key]: 'x' } })))
    expect(Object.keys(at(await api.get(`${MAPS}/busy`), 'data') ?? {}).length).toBe(50)
  })

  it('that name a revision win once', async () => {
    const { metadata } = await api.create(MAPS, { metadata: { name: 'raced' } })
    const resourceVersion = stringAt(metadata, 'resourceVersion')
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => {
        const body = { metadata: { resourceVersion }, data: { winner: String(i) } }
        return (await api.call('PATCH', `${MAPS}/raced`, body, { 'content-type': MERGE })).status
      }),
    )
    expect(answers.toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
  })

  it('that create one name succeed once', async () => {
    const answers = await Promise.all(
      Array.from(
        { length: 10 },
        async () => (await api.call('POST', MAPS, { metadata: { name: 'once' } })).status,
      ),
    )
    expect(answers.toSorted((a, b) => a - b)).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
  })

  it('that change nothing write nothing', async () => {
    const created = await api.create(MAPS, { metadata: { name: 'same' }, data: { a: '1' } })
    const patched = await api.patch(`${MAPS}/same`, { data: { a: '1' } })
    expect(at(patched, 'metadata', 'resourceVersion')).toBe(at(created, 'metadata', 'resourceVersion'))
  })

  it('that only try leave no trace', async () => {
    expect((await api.call('POST', `${MAPS}?dryRun=All`, { metadata: { name: 'tried' } })).status).toBe(201)
    expect((await api.call('GET', `${MAPS}/tried`)).status).toBe(404)
    await api.create(MAPS, { metadata: { name: 'kept' } })
    const patched = await api.call(
      'PATCH',
      `${MAPS}/kept?dryRun=All`,
      { data: { a: '1' } },
      { 'content-type': MERGE },
    )
    expect(patched.body).toMatchObject({ data: { a: '1' } })
    expect((await api.call('DELETE', `${MAPS}/kept?dryRun=All`)).status).toBe(200)
    expect(await api.get(`${MAPS}/kept`)).not.toHaveProperty('data')
  })

  it('are refused server-side apply', async () => {
    const type = { 'content-type': 'application/apply-patch+yaml' }
    expect(await api.call('PATCH', `${MAPS}/kept?fieldManager=x`, '{}', type)).toMatchObject({
      status: 415,
      body: { reason: 'UnsupportedMediaType' },
    })
  })

  it('get a name where they give a prefix', async () => {
    const made = await api.create(MAPS, { metadata: { generateName: 'some-' } })
    expect(stringAt(made, 'metadata', 'name')).toMatch(/^some-[a-z0-9]{5}$/)
  })

  it('may test before they change', async () => {
    await api.create(NODES, {
      metadata: { name: 'tested', labels: { a: 'b' } },
      spec: { unschedulable: true },
    })
    const operations = (value: boolean) => [
      { op: 'test', path: '/spec/unschedulable', value },
      { op: 'add', path: '/metadata/labels/c', value: 'd' },
    ]
    const type = { 'content-type': JSON_PATCH }
    expect((await api.call('PATCH', `${NODES}/tested`, operations(false), type)).status).toBe(422)
    expect((await api.call('PATCH', `${NODES}/tested`, operations(true), type)).status).toBe(200)
  })
})

describe('a list', () => {
  it('in pages shows one moment, whatever is written in between', async () => {
    const path = '/api/v1/namespaces/kube-system/configmaps'
    for (let i = 0; i < 5; i++) await api.create(path, { metadata: { name: `page-${i}` } })
    const first = await api.get(`${path}?limit=2`)
    expect(at(first, 'metadata', 'remainingItemCount')).toBe(3)
    await api.create(path, { metadata: { name: 'page-3a' } })
    await api.remove(`${path}/page-4`)
    await api.patch(`${path}/page-2`, { data: { late: 'yes' } })
    const names: string[] = []
    for (let page = first; ; ) {
      names.push(...listAt(page, 'items').map((item) => stringAt(item, 'metadata', 'name')))
      expect(JSON.stringify(page)).not.toContain('late')
      const token = stringAt(page, 'metadata', 'continue')
      if (!token) break
      page = await api.get(`${path}?limit=2&continue=${token}`)
      expect(at(page, 'metadata', 'resourceVersion')).toBe(at(first, 'metadata', 'resourceVersion'))
    }
    expect(names).toEqual(['page-0', 'page-1', 'page-2', 'page-3', 'page-4'])
  })

  it('is had of a past revision exactly, and of a future one not at all', async () => {
    const path = '/api/v1/namespaces/kube-public/configmaps'
    await api.create(path, { metadata: { name: 'old' } })
    const revision = stringAt(await api.get(path), 'metadata', 'resourceVersion')
    await api.create(path, { metadata: { name: 'new' } })
    const exact = await api.get(`${path}?resourceVersion=${revision}&resourceVersionMatch=Exact`)
    expect(listAt(exact, 'items').length).toBe(1)
    expect((await api.call('GET', `${path}?resourceVersion=99999999`)).status).toBe(504)
  })
})

describe('a watch', () => {
  it('from a list misses nothing and repeats nothing, however the writes fall', async () => {
    const path = '/api/v1/namespaces/kube-node-lease/configmaps'
    const writes = (async () => {
      for (let i = 0; i < 60; i++)
        await api.create(path, { metadata: { name: `n-${String(i).padStart(2, '0')}` } })
    })()
    await api.until(`${path}/n-10`, 200)
    const list = await api.get(path)
    const known = listAt(list, 'items').map((item) => stringAt(item, 'metadata', 'name'))
    const revision = stringAt(list, 'metadata', 'resourceVersion')
    const events = await take(api.watch(`${path}?resourceVersion=${revision}`), 60 - known.length)
    await writes
    const seen = events.map((event) => stringAt(event, 'object', 'metadata', 'name'))
    expect([...known, ...seen]).toEqual(
      Array.from({ length: 60 }, (_, i) => `n-${String(i).padStart(2, '0')}`),
    )
  })

  it('starts with what there is, and marks where that ends', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const events = await take(api.watch(`/api/v1/namespaces?${query}`), 5)
    expect(events.map(({ type }) => type)).toEqual([...Array.from({ length: 4 }, () => 'ADDED'), 'BOOKMARK'])
    expect(at(events[4], 'object', 'metadata', 'annotations')).toEqual({
      'k8s.io/initial-events-end': 'true',
    })
  })

  it('sees what comes into its selection and what leaves it', async () => {
    await api.create(MAPS, { metadata: { name: 'seen' } })
    const revision = stringAt(await api.get(MAPS), 'metadata', 'resourceVersion')
    await api.patch(`${MAPS}/seen`, { metadata: { labels: { show: 'me' } } })
    await api.patch(`${MAPS}/seen`, { data: { a: '1' } })
    await api.patch(`${MAPS}/seen`, { metadata: { labels: { show: 'not' } } })
    await api.patch(`${MAPS}/seen`, { data: { a: '2' } })
    await api.patch(`${MAPS}/seen`, { metadata: { labels: { show: 'me' } } })
    await api.remove(`${MAPS}/seen`)
    const events = await take(api.watch(`${MAPS}?labelSelector=show%3Dme&resourceVersion=${revision}`), 5)
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED', 'ADDED', 'DELETED'])
    expect(at(events[2], 'object', 'metadata', 'labels')).toEqual({ show: 'me' })
  })

  it('of a revision that is forgotten ends with 410 inside the stream', async () => {
    expect(await take(api.watch(`${MAPS}?resourceVersion=1`), 1)).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', reason: 'Expired', code: 410 } },
    ])
  })

  it('ends when its time is over, with a last bookmark', async () => {
    const events: unknown[] = []
    const path = `${MAPS}?resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`
    for await (const event of api.watch(`${path}&timeoutSeconds=1&allowWatchBookmarks=true`))
      events.push(event)
    expect(events).toMatchObject([{ type: 'BOOKMARK' }])
  })

  it('gives rows where a table is wanted, with columns once', async () => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const [first, second] = await take(api.watch('/api/v1/namespaces', headers), 2)
    expect(at(first, 'object', 'columnDefinitions')).toHaveLength(3)
    expect(at(second, 'object', 'columnDefinitions')).toBeNull()
  })
})

describe('a small history', () => {
  it('makes an old page and an old watch start again', async () => {
    const small = await TestApi.start({ history: { changes: 16, bytes: 1e9 } })
    for (let i = 0; i < 4; i++) await small.create(MAPS, { metadata: { name: `a-${i}` } })
    const page = await small.get(`${MAPS}?limit=2`)
    for (let i = 0; i < 40; i++) await small.create(MAPS, { metadata: { name: `b-${i}` } })
    const token = stringAt(page, 'metadata', 'continue')
    expect(await small.call('GET', `${MAPS}?limit=2&continue=${token}`)).toMatchObject({
      status: 410,
      body: { reason: 'Expired' },
    })
    const revision = stringAt(page, 'metadata', 'resourceVersion')
    expect(await take(small.watch(`${MAPS}?resourceVersion=${revision}`), 1)).toMatchObject([
      { type: 'ERROR' },
    ])
    await small.stop()
  })
})
