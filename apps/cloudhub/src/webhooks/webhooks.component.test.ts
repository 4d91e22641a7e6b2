import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, type WebhookConfiguration } from '@upgrade-hub/kube'
import { type Ca, createCa } from '@upgrade-hub/pki'
import type { SlimNode } from '@upgrade-hub/rollout'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ServerCertificate } from '../certificates/server-certificate.ts'
import { listen } from '../http/listen.ts'
import type { HttpsApp } from '../http/server.ts'
import { FakeKube } from '../testing/fake-kube.ts'
import { callHttps } from '../testing/https-call.ts'
import { reconcileCaBundle } from './ca-bundle.ts'
import { mutatingConfiguration, validatingConfiguration } from './configurations.ts'
import { createWebhookServer } from './server.ts'

let ca: Ca
let certificate: ServerCertificate
let app: HttpsApp
let port: number
let clock: FakeClock
let nodes: SlimNode[] | undefined

beforeAll(async () => {
  ca = await createCa({ commonName: 'ca', validDays: 10 })
  const names = { dnsNames: ['localhost'], ipAddresses: [] }
  certificate = await ServerCertificate.issue({
    ca,
    names,
    validDays: 5,
    clock: systemClock,
    log: silentLogger,
  })
})

beforeEach(async () => {
  clock = new FakeClock()
  nodes = undefined
  app = createWebhookServer({ certificate, nodes: () => nodes, clock, log: silentLogger, metrics: noMetrics })
  port = await listen(app, { host: '127.0.0.1', port: 0 })
})
afterEach(() => app.close())

async function post(body: string, path = '/nodeupgradejobs', type = 'application/json') {
  return callHttps({ port, path, ca: ca.certPem, method: 'POST', body, headers: { 'content-type': type } })
}

const job = (spec: object | undefined, version = 'v1alpha2') => ({
  apiVersion: `operations.kubeedge.io/${version}`,
  kind: 'NodeUpgradeJob',
  metadata: { name: 'up' },
  ...(spec ? { spec } : {}),
})
const good = { version: 'v1.12.0', nodeNames: ['n1'] }

function review(over: object = {}, version = 'v1alpha2') {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u1',
      kind: { group: 'operations.kubeedge.io', version, kind: 'NodeUpgradeJob' },
      operation: 'CREATE',
      object: job(good, version),
      oldObject: null,
      userInfo: { username: 'anna' },
      ...over,
    },
  }
}

interface Response {
  response: {
    uid: string
    allowed: boolean
    status?: { message: string; code: number }
    warnings?: string[]
    patch?: string
  }
}

async function ask(over: object = {}, version = 'v1alpha2'): Promise<Response['response']> {
  const answer = await post(JSON.stringify(review(over, version)))
  expect(answer.status).toBe(200)
  return (JSON.parse(answer.text) as Response).response
}

describe.each(['v1alpha1', 'v1alpha2'])('the verdict on a job of %s (S24)', (version) => {
  it('lets a good one through', async () => {
    expect(await ask({}, version)).toMatchObject({ uid: 'u1', allowed: true })
  })

  it.each([
    ['invalid version 1.x', { ...good, version: '1.x' }],
    ['both NodeNames and LabelSelector are NOT specified', { version: 'v1.12.0' }],
    [
      'both NodeNames and LabelSelector are specified',
      { ...good, labelSelector: { matchLabels: { a: 'b' } } },
    ],
    ['invalid image repo /x', { ...good, image: '/x' }],
    ['failureTolerate is a ratio', { ...good, failureTolerate: '2' }],
    [
      'timeZone Europe/Atlantis is not known',
      { ...good, upgradeHub: { window: { timeZone: 'Europe/Atlantis' } } },
    ],
    [
      'does not open within 400 days',
      { ...good, upgradeHub: { window: { blackouts: [{ from: '1960-01-01', to: '2199-01-01' }] } } },
    ],
    ['upgradeTool knows keadm and exec', { ...good, upgradeTool: 'rm' }],
    ['allNodes', { version: 'v1.12.0', labelSelector: {} }],
    ['spec.nodeNames', { ...good, nodeNames: 'n1' }],
    ['both NodeNames and LabelSelector are NOT specified', undefined],
  ])('refuses with "%s"', async (sentence, spec) => {
    const response = await ask({ object: job(spec, version) }, version)
    expect(response).toMatchObject({ uid: 'u1', allowed: false, status: { code: 422 } })
    expect(response.status?.message).toContain(sentence)
  })

  it('refuses any change of the spec, also its removal, in KubeEdge’s words', async () => {
    for (const spec of [{ ...good, version: 'v1.13.0' }, undefined]) {
      const response = await ask(
        { operation: 'UPDATE', object: job(spec, version), oldObject: job(good, version) },
        version,
      )
      expect(response.status?.message).toContain("spec fields are not allowed to update once it's created")
    }
  })

  it('lets a stored job of the worst kind be labelled', async () => {
    const worst = job({ image: '???', version: 'nonsense' }, version)
    const labelled = { ...worst, metadata: { name: 'up', labels: { a: 'b' } } }
    expect(await ask({ operation: 'UPDATE', object: labelled, oldObject: worst }, version)).toMatchObject({
      allowed: true,
    })
  })
})

describe('warnings', () => {
  const node = (name: string): SlimNode =>
    ({ name, labels: { 'node-role.kubernetes.io/edge': '', zone: 'a' } }) as unknown as SlimNode
  const warningsFor = async (spec: object) => (await ask({ object: job(spec) })).warnings ?? []

  it('names nodes that do not exist', async () => {
    nodes = [node('n1')]
    expect(await warningsFor({ ...good, nodeNames: ['n1', 'n9'] })).toEqual(
      expect.arrayContaining([expect.stringContaining('there is no node named n9')]),
    )
  })

  it('says when more than half may be down at once, by name or by label', async () => {
    nodes = [node('n1'), node('n2'), node('n3')]
    const half = expect.arrayContaining([expect.stringContaining('more than half of the 3 nodes')])
    expect(await warningsFor({ ...good, nodeNames: ['n1', 'n2', 'n3'], concurrency: 2 })).toEqual(half)
    const labelSelector = { matchLabels: { zone: 'a' } }
    expect(await warningsFor({ version: 'v1.12.0', labelSelector, concurrency: 2 })).toEqual(half)
    expect(await warningsFor({ version: 'v1.12.0', labelSelector, concurrency: 1 })).not.toEqual(half)
  })

  it('says when nothing may fail, and when the image is only a tag', async () => {
    const digest = `sha256:${'a'.repeat(64)}`
    expect(await warningsFor({ ...good, failureTolerate: '0' })).toEqual([
      expect.stringContaining('failureTolerate is 0'),
      expect.stringContaining('by tag only'),
    ])
    expect(await warningsFor({ ...good, image: `kubeedge/installation-package@${digest}` })).toEqual([])
    expect(await warningsFor({ ...good, upgradeHub: { digests: { 'linux/amd64': digest } } })).toEqual([])
  })

  it('stays short however many names are wrong', async () => {
    nodes = []
    const nodeNames = Array.from({ length: 5_000 }, (_, i) => `node-${i}`)
    for (const warning of await warningsFor({ ...good, nodeNames }))
      expect(warning.length).toBeLessThanOrEqual(250)
  })
})

describe('hostile questions (S21)', () => {
  it.each([
    ['no JSON', '{', 400],
    ['nothing', '', 400],
    ['an old review', JSON.stringify({ ...review(), apiVersion: 'admission.k8s.io/v1beta1' }), 400],
    ['no request', JSON.stringify({ ...review(), request: null }), 400],
    ['no uid', JSON.stringify(review({ uid: undefined })), 400],
    ['a uid that is endless', JSON.stringify(review({ uid: 'x'.repeat(1000) })), 400],
    ['another kind', JSON.stringify(review({ kind: { group: '', version: 'v1', kind: 'Pod' } })), 400],
    ['a version that is not served', JSON.stringify(review({}, 'v9')), 400],
    ['an operation that does not exist', JSON.stringify(review({ operation: 'PATCH' })), 400],
    ['a CREATE of nothing', JSON.stringify(review({ object: null })), 400],
    [
      'an UPDATE of what was never there',
      JSON.stringify(review({ operation: 'UPDATE', oldObject: null })),
      400,
    ],
    ['an object that is a list', JSON.stringify(review({ object: [] })), 400],
    ['a poisoned prototype', '{"__proto__":{"allowed":true}}', 400],
    ['more than a megabyte', JSON.stringify(review({ object: { pad: 'x'.repeat(1024 * 1024) } })), 413],
  ])('answers %s with a 4xx', async (_, body, status) => {
    const answer = await post(body)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.text)).toMatchObject({ code: expect.any(String), message: expect.any(String) })
  })

  it('answers another content type with 415', async () => {
    expect((await post(JSON.stringify(review()), '/nodeupgradejobs', 'text/plain')).status).toBe(415)
  })

  it.each(['DELETE', 'CONNECT'])('never stands in the way of %s', async (operation) => {
    expect(await ask({ operation, object: null })).toMatchObject({ allowed: true })
  })

  const approved = (...approvals: object[]) => ({ ...job(good), control: { approvals } })

  it.each([
    ['a job without approvals', job(good), null, undefined],
    ['an approval in a name', approved({ wave: 'a', by: 'bert' }), null, undefined],
    ['an older approval', approved({ wave: 'a' }), approved({ wave: 'a' }), undefined],
    [
      'a new approval beside an older one',
      approved({ wave: 'a' }, { wave: 'b' }),
      approved({ wave: 'a' }),
      [{ op: 'add', path: '/control/approvals/1/by', value: 'anna' }],
    ],
  ])('stamps who approves, and changes nothing else: %s', async (_, object, oldObject, patch) => {
    const operation = oldObject ? 'UPDATE' : 'CREATE'
    const answer = await post(
      JSON.stringify(review({ object, oldObject, operation })),
      '/mutating/nodeupgradejobs',
    )
    const { response } = JSON.parse(answer.text) as Response
    expect(response).toMatchObject({ uid: 'u1', allowed: true })
    const sent = response.patch && (JSON.parse(Buffer.from(response.patch, 'base64').toString()) as unknown)
    expect(sent).toEqual(patch)
  })

  it("refuses a new approval in somebody else's name, and lets an older one be", async () => {
    const operation = 'UPDATE'
    const byBert = approved({ wave: 'a', by: 'bert' })
    const refused = await ask({ operation, object: byBert, oldObject: job(good) })
    expect(refused).toMatchObject({ allowed: false })
    expect(refused.status?.message).toContain('wave a is approved in the name of bert, but you are anna')
    expect(await ask({ operation, object: byBert, oldObject: byBert })).toMatchObject({ allowed: true })
    const byAnna = approved({ wave: 'a', by: 'anna' })
    expect(await ask({ operation, object: byAnna, oldObject: job(good) })).toMatchObject({ allowed: true })
  })

  it('judges the largest job within a second', async () => {
    const nodeNames = Array.from({ length: 10_000 }, (_, i) => `node-${i}`)
    const before = performance.now()
    expect(await ask({ object: job({ ...good, nodeNames }) })).toMatchObject({ allowed: true })
    expect(performance.now() - before).toBeLessThan(5_000)
  })

  it('has nothing elsewhere, and is ready as soon as it listens', async () => {
    expect((await post('{}', '/validate')).status).toBe(404)
    expect((await callHttps({ port, path: '/readyz', ca: ca.certPem })).status).toBe(200)
  })

  it('limits a flood from one address', async () => {
    const flood = () => app.inject({ method: 'POST', url: '/nodeupgradejobs', payload: {} })
    const statuses: number[] = []
    for (let i = 0; i < 210; i++) statuses.push((await flood()).statusCode)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    await clock.advance(1000)
    expect((await flood()).statusCode).toBe(400)
  })
})

describe('configurations', () => {
  const manifest = (file: string) => {
    const path = fileURLToPath(new URL(`../../../../manifests/webhooks/${file}`, import.meta.url))
    return parse(readFileSync(path, 'utf8')) as unknown
  }

  it('are what the manifests install (S22, S23)', () => {
    const target = { service: 'upgrade-hub-webhooks' }
    expect(validatingConfiguration('upgrade-hub', target, '')).toEqual(manifest('validating.yaml'))
    expect(mutatingConfiguration('upgrade-hub', target, '')).toEqual(manifest('mutating.yaml'))
  })
})

describe('reconcileCaBundle', () => {
  let kube: FakeKube
  const options = () => ({ client: kube, name: 'upgrade-hub', ca: 'PEM', clock, log: silentLogger })
  const bundle = Buffer.from('PEM').toString('base64')
  const stored = () => kube.peek(VALIDATING_WEBHOOKS, 'upgrade-hub')

  beforeEach(() => {
    kube = new FakeKube()
  })

  it('fills the bundle in and leaves the rest of the object to its owner', async () => {
    const made = validatingConfiguration('upgrade-hub', { service: 's' }, '')
    const foreign = { name: 'other.example', clientConfig: { caBundle: 'theirs' } }
    kube.put(VALIDATING_WEBHOOKS, { ...made, webhooks: [...(made.webhooks ?? []), foreign] })
    await reconcileCaBundle(options())
    expect(stored()?.webhooks?.map(({ clientConfig }) => clientConfig.caBundle)).toEqual([bundle, 'theirs'])
    expect(stored()?.webhooks?.[0]?.clientConfig.service).toMatchObject({ name: 's' })
  })

  it('writes nothing when it is right, and makes nothing where manifests do', async () => {
    await reconcileCaBundle(options())
    kube.put(VALIDATING_WEBHOOKS, validatingConfiguration('upgrade-hub', { service: 's' }, bundle))
    await reconcileCaBundle(options())
    expect(kube.calls.filter(({ verb }) => verb !== 'get')).toEqual([])
  })

  it('makes both where there are no manifests, and moves them when the address changes', async () => {
    await reconcileCaBundle({ ...options(), url: 'https://127.0.0.1:1' })
    await reconcileCaBundle({ ...options(), url: 'https://127.0.0.1:2' })
    const urls = [VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS].map(
      (resource) =>
        (kube.peek(resource, 'upgrade-hub') as WebhookConfiguration).webhooks?.[0]?.clientConfig.url,
    )
    expect(urls).toEqual([
      'https://127.0.0.1:2/nodeupgradejobs',
      'https://127.0.0.1:2/mutating/nodeupgradejobs',
    ])
  })
})
