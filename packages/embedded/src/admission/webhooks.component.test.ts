import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { at, type JsonObject, stringAt } from '../json.ts'
import { serverTls, sharedCa, TestApi } from '../testing/test-api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const CONFIGS = '/apis/admissionregistration.k8s.io/v1'

type Answer = (request: JsonObject) => object | 'hang'

let api: TestApi
let server: Server
let caBundle: string
let seen: JsonObject[] = []
let answer: Answer

beforeAll(async () => {
  const ca = await sharedCa()
  caBundle = Buffer.from(ca.certPem).toString('base64')
  const { cert, key } = await serverTls(ca, ['localhost', 'hooks.system.svc'])
  server = createServer({ cert, key }, (request, response) => {
    void json(request).then((review) => {
      const asked = at(review as JsonObject, 'request') as JsonObject
      seen.push(asked)
      const said = answer(asked)
      if (said === 'hang') return
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ response: { uid: stringAt(asked, 'uid'), allowed: true, ...said } }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  api = await TestApi.start({ servicePorts: { 'system/hooks': port() } })
})

afterAll(async () => {
  await api.stop()
  server.closeAllConnections()
  server.close()
})

afterEach(async () => {
  seen = []
  for (const kind of ['mutating', 'validating']) await api.remove(`${CONFIGS}/${kind}webhookconfigurations`)
  await api.remove(MAPS)
})

function port(): number {
  return (server.address() as AddressInfo).port
}

function hook(more: object = {}): object {
  return {
    name: 'one.example.com',
    clientConfig: { url: `https://127.0.0.1:${port()}/hook`, caBundle },
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 1,
    ...more,
  }
}

async function install(kind: 'mutating' | 'validating', ...webhooks: object[]): Promise<void> {
  await api.create(`${CONFIGS}/${kind}webhookconfigurations`, { metadata: { name: kind }, webhooks })
}

function patch(...operations: object[]): object {
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
}

describe('a validating webhook', () => {
  it('refuses in its own words and code', async () => {
    answer = () => ({ allowed: false, status: { message: 'not today', code: 422, reason: 'Invalid' } })
    await install('validating', hook())
    expect(await api.call('POST', MAPS, { metadata: { name: 'a' } })).toMatchObject({
      status: 422,
      body: {
        message: 'admission webhook "one.example.com" denied the request: not today',
        reason: 'Invalid',
      },
    })
    expect((await api.call('GET', `${MAPS}/a`)).status).toBe(404)
  })

  it('is told who does what with which object, and whether it is only tried', async () => {
    answer = () => ({ warnings: ['mind the gap'] })
    await install('validating', hook())
    const created = await api.call('POST', `${MAPS}?dryRun=All`, {
      metadata: { name: 'a' },
      data: { x: '1' },
    })
    expect(created.headers['warning']).toBe('299 - "mind the gap"')
    expect(seen).toMatchObject([
      {
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        name: 'a',
        namespace: 'default',
        operation: 'CREATE',
        userInfo: { username: 'admin', groups: ['system:masters', 'system:authenticated'] },
        object: { data: { x: '1' } },
        oldObject: null,
        dryRun: true,
      },
    ])
  })

  it('sees deletions with what is deleted', async () => {
    answer = () => ({})
    await install('validating', hook())
    await api.create(MAPS, { metadata: { name: 'a' }, data: { x: '1' } })
    await api.remove(`${MAPS}/a`)
    expect(seen[1]).toMatchObject({ operation: 'DELETE', object: null, oldObject: { data: { x: '1' } } })
  })

  it('is asked only where its conditions hold', async () => {
    answer = () => ({ allowed: false })
    const expression = "request.operation == 'CREATE' && object.?data.x.orValue('') == 'checked'"
    await install('validating', hook({ matchConditions: [{ name: 'checked', expression }] }))
    await api.create(MAPS, { metadata: { name: 'a' } })
    expect((await api.call('POST', MAPS, { metadata: { name: 'b' }, data: { x: 'checked' } })).status).toBe(
      403,
    )
    expect(seen.length).toBe(1)
  })

  it('is asked only for the objects and namespaces that it selects', async () => {
    answer = () => ({ allowed: false })
    await install(
      'validating',
      hook({ objectSelector: { matchLabels: { check: 'me' } } }),
      hook({ name: 'two.example.com', namespaceSelector: { matchLabels: { check: 'me' } } }),
    )
    await api.create(MAPS, { metadata: { name: 'a' } })
    expect((await api.call('POST', MAPS, { metadata: { name: 'b', labels: { check: 'me' } } })).status).toBe(
      403,
    )
    expect(seen.length).toBe(1)
  })

  it.each([
    ['Fail', 500],
    ['Ignore', 201],
  ])('that cannot be reached, with the policy %s, answers %d', async (failurePolicy, status) => {
    await install('validating', hook({ failurePolicy, clientConfig: { url: 'https://127.0.0.1:1/x' } }))
    expect((await api.call('POST', MAPS, { metadata: { name: 'a' } })).status).toBe(status)
  })

  it('that hangs is not waited for longer than it may take', async () => {
    answer = () => 'hang'
    await install('validating', hook())
    expect(await api.call('POST', MAPS, { metadata: { name: 'a' } })).toMatchObject({
      status: 500,
      body: { reason: 'InternalError' },
    })
  })

  it('whose certificate is of another authority is not believed', async () => {
    answer = () => ({})
    const clientConfig = { url: `https://127.0.0.1:${port()}/hook` }
    await install('validating', hook({ clientConfig }))
    expect((await api.call('POST', MAPS, { metadata: { name: 'a' } })).status).toBe(500)
    expect(seen).toEqual([])
  })

  it('that answers another question is not believed', async () => {
    answer = () => ({ uid: 'another' })
    await install('validating', hook())
    expect((await api.call('POST', MAPS, { metadata: { name: 'a' } })).status).toBe(500)
  })

  it('of a service is reached where the port of the service is known', async () => {
    answer = () => ({ allowed: false })
    const service = (name: string) => ({ clientConfig: { service: { namespace: 'system', name }, caBundle } })
    await install('validating', hook(service('hooks')))
    expect((await api.call('POST', MAPS, { metadata: { name: 'a' } })).status).toBe(403)
    await api.remove(`${CONFIGS}/validatingwebhookconfigurations`)
    await install('validating', hook(service('unknown')))
    expect(await api.call('POST', MAPS, { metadata: { name: 'a' } })).toMatchObject({ status: 500 })
  })
})

describe('a mutating webhook', () => {
  it('changes what is stored, before the validating ones see it', async () => {
    answer = ({ object }) =>
      at(object, 'metadata', 'labels') === undefined
        ? patch({ op: 'add', path: '/metadata/labels', value: { made: 'here' } })
        : {}
    await install('mutating', hook())
    await install('validating', hook())
    expect(await api.create(MAPS, { metadata: { name: 'a' } })).toMatchObject({
      metadata: { labels: { made: 'here' } },
    })
    expect(seen.map(({ object }) => at(object, 'metadata', 'labels'))).toEqual([undefined, { made: 'here' }])
  })

  it('cannot make what the schema does not take', async () => {
    answer = () => patch({ op: 'add', path: '/data', value: { x: 1 } })
    await install('mutating', hook())
    expect((await api.call('POST', MAPS, { metadata: { name: 'a' } })).status).toBe(500)
  })

  it('does not make a slow write overwrite a quick one', async () => {
    await api.create(MAPS, { metadata: { name: 'a' }, data: { x: '0' } })
    let calls = 0
    answer = () => {
      calls += 1
      return {}
    }
    await install('mutating', hook())
    const keys = ['p', 'q', 'r', 's', 't']
    await Promise.all(keys.map(async (key) => await api.patch(`${MAPS}/a`, { data: { [key]: '1' } })))
    expect(Object.keys(at(await api.get(`${MAPS}/a`), 'data') ?? {})).toEqual(expect.arrayContaining(keys))
    expect(calls).toBeGreaterThanOrEqual(keys.length)
  })
})
