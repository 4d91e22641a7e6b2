import { X509Certificate } from 'node:crypto'
import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { SECRETS } from '@upgrade-hub/kube'
import { createCa } from '@upgrade-hub/pki'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeKube, failure } from '../testing/fake-kube.ts'
import { CA_SECRET, openHubCa } from './hub-ca.ts'
import { ServerCertificate } from './server-certificate.ts'

const DAY_MS = 86_400_000

describe('openHubCa', () => {
  let kube: FakeKube
  beforeEach(() => {
    kube = new FakeKube()
  })

  it('gives all replicas that start at once the same CA', async () => {
    const opened = await Promise.all([1, 2, 3].map(() => openHubCa(kube, silentLogger)))
    expect(new Set(opened.map(({ ca }) => ca.certPem)).size).toBe(1)
    expect(new Set(opened.map(({ tokenKey }) => tokenKey.toString('hex'))).size).toBe(1)
    expect((await openHubCa(kube, silentLogger)).ca.certPem).toBe(opened[0]?.ca.certPem)
  })

  it('takes what is stored when the answer to its own create was lost', async () => {
    kube.after = () => {
      throw failure('KUBE_UNKNOWN_OUTCOME', 504)
    }
    const { ca } = await openHubCa(kube, silentLogger)
    kube.after = () => undefined
    expect((await openHubCa(kube, silentLogger)).ca.certPem).toBe(ca.certPem)
  })

  it.each([
    ['empty', {}],
    ['not PEM', { 'ca.crt': 'eA==', 'ca.key': 'eA==', 'token.key': Buffer.alloc(32).toString('base64') }],
  ])('never replaces a Secret that is %s', async (_, data) => {
    const metadata = { name: CA_SECRET, namespace: 'upgrade-hub' }
    kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data: data as Record<string, string> })
    await expect(openHubCa(kube, silentLogger)).rejects.toMatchObject({ code: 'HUB_CA_INVALID' })
    expect(kube.peek(SECRETS, CA_SECRET)?.data).toEqual(data)
  })

  it('signs servers that a client which knows the CA accepts', async () => {
    const { ca } = await openHubCa(kube, silentLogger)
    const { certPem } = await ca.issueServer({ dnsNames: ['hub'], ipAddresses: [], validDays: 1 })
    const [server, root] = [new X509Certificate(certPem), new X509Certificate(ca.certPem)]
    expect(server.verify(root.publicKey)).toBe(true)
    // An issuer of the subject's own name would pass for a self-signed certificate.
    expect(server.subject).not.toBe(server.issuer)
  })
})

describe('ServerCertificate', () => {
  const names = { dnsNames: ['localhost'], ipAddresses: [] }
  const HOUR_MS = 3_600_000

  it('renews itself after two thirds of its life', async () => {
    const clock = new FakeClock()
    const ca = await createCa({ commonName: 'ca', validDays: 365 }, clock)
    const certificate = await ServerCertificate.issue({ ca, names, validDays: 9, clock, log: silentLogger })
    const seen: string[] = []
    const renewed = new Promise<void>((resolve) => {
      certificate.follow(({ cert }) => {
        seen.push(cert)
        resolve()
      })
    })
    const stop = new AbortController()
    const running = certificate.run(stop.signal)
    for (let hour = 0; hour < 6 * 24 - 1; hour++) await clock.advance(HOUR_MS)
    expect(seen).toEqual([])
    for (let hour = 0; hour < 2; hour++) await clock.advance(HOUR_MS)
    await renewed
    expect(seen[0]).toBe(certificate.current.cert)
    expect(certificate.notAfter.getTime()).toBeGreaterThan(clock.now() + 8 * DAY_MS)
    stop.abort()
    await running
  })

  it('keeps the old one when renewing fails, and tries again an hour later', async () => {
    const clock = new FakeClock()
    const ca = await createCa({ commonName: 'ca', validDays: 365 }, clock)
    let tries = 0
    const issueServer: typeof ca.issueServer = (options) =>
      ++tries === 2 ? Promise.reject(new Error('no')) : ca.issueServer(options)
    const flaky = { ...ca, issueServer }
    const certificate = await ServerCertificate.issue({
      ca: flaky,
      names,
      validDays: 3,
      clock,
      log: silentLogger,
    })
    const before = certificate.current.cert
    const renewed = new Promise<string>((resolve) => certificate.follow(({ cert }) => resolve(cert)))
    const stop = new AbortController()
    const running = certificate.run(stop.signal)
    for (let hour = 0; hour < 48 && tries < 2; hour++) await clock.advance(HOUR_MS)
    expect([tries, certificate.current.cert]).toEqual([2, before])
    await clock.advance(HOUR_MS)
    expect(await renewed).not.toBe(before)
    stop.abort()
    await running
  })
})
