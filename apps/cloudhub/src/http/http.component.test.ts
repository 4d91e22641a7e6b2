import { connect } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { createMetrics } from '@upgrade-hub/observability'
import { type Ca, createCa } from '@upgrade-hub/pki'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ServerCertificate } from '../certificates/server-certificate.ts'
import { callHttps } from '../testing/https-call.ts'
import { Gate } from './gate.ts'
import { HTTP_LIMITS } from './limits.ts'
import { listen } from './listen.ts'
import { createMetricsServer } from './metrics-server.ts'
import { RateLimiter } from './rate-limit.ts'
import { createHttpsApp, type HttpsApp } from './server.ts'

describe('RateLimiter', () => {
  it('gives each key its burst and then its rate', async () => {
    const clock = new FakeClock()
    const rate = new RateLimiter({ perSecond: 2, burst: 3 }, clock)
    expect([1, 2, 3, 4].map(() => rate.take('a'))).toEqual([true, true, true, false])
    expect(rate.take('b')).toBe(true)
    await clock.advance(500)
    expect([rate.take('a'), rate.take('a')]).toEqual([true, false])
  })

  it('looks without taking', () => {
    const rate = new RateLimiter({ perSecond: 1, burst: 1 }, new FakeClock())
    expect([rate.allows('a'), rate.allows('a'), rate.take('a'), rate.allows('a')]).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  it('does not grow with the number of keys', () => {
    const rate = new RateLimiter({ perSecond: 1, burst: 1 }, new FakeClock())
    for (let i = 0; i < 50_000; i++) rate.take(`address-${i}`)
    expect(rate.size).toBeLessThanOrEqual(10_000)
  })
})

describe('Gate', () => {
  it('runs so many at once, lets so many wait, and refuses the rest', async () => {
    const gate = new Gate({ running: 2, waiting: 3 })
    const release = Promise.withResolvers<void>()
    let running = 0
    let most = 0
    const job = async () => {
      most = Math.max(most, ++running)
      await release.promise
      running--
    }
    const results = Promise.allSettled(Array.from({ length: 8 }, () => gate.run(job)))
    release.resolve()
    const statuses = (await results).map(({ status }) => status)
    expect(statuses.filter((status) => status === 'rejected')).toHaveLength(3)
    expect(most).toBe(2)
    await gate.run(() => Promise.resolve())
  })

  it('goes on after a job that fails', async () => {
    const gate = new Gate({ running: 1, waiting: 1 })
    await expect(gate.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await gate.run(() => Promise.resolve(7))).toBe(7)
  })
})

describe('createMetricsServer', () => {
  it('is not healthy when a part of the hub has ended by itself, and says which', async () => {
    const broken: string[] = []
    const health = { isReady: () => true, broken: () => broken }
    const app = createMetricsServer({ registry: createMetrics(), ...health, log: silentLogger })
    expect((await app.inject('/healthz')).statusCode).toBe(200)
    broken.push('controllers')
    const { statusCode, body } = await app.inject('/healthz')
    expect([statusCode, body]).toEqual([503, expect.stringContaining('controllers')])
    await app.close()
  })

  it('serves metrics, health and readiness, and nothing else', async () => {
    let isReady = false
    const registry = createMetrics()
    registry.metrics.counter('upgradehub_x_total', 'Xs.').inc()
    const app = createMetricsServer({ registry, isReady: () => isReady, log: silentLogger })
    const port = await listen(app, { host: '127.0.0.1', port: 0 })
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
    expect((await get('/healthz')).status).toBe(200)
    expect((await get('/readyz')).status).toBe(503)
    isReady = true
    expect((await get('/readyz')).status).toBe(200)
    expect(await (await get('/metrics')).text()).toContain('upgradehub_x_total 1')
    expect((await get('/debug')).status).toBe(404)
    await app.close()
  })

  it('says which port is taken', async () => {
    const make = () =>
      createMetricsServer({ registry: createMetrics(), isReady: () => true, log: silentLogger })
    const first = make()
    const second = make()
    const port = await listen(first, { host: '127.0.0.1', port: 0 })
    await expect(listen(second, { host: '127.0.0.1', port })).rejects.toMatchObject({
      code: 'HUB_PORT_IN_USE',
    })
    await first.close()
    await second.close()
  })
})

describe('slow clients (S32)', () => {
  let ca: Ca
  let certificate: ServerCertificate
  let app: HttpsApp
  let port: number
  const limits = {
    ...HTTP_LIMITS,
    handshakeTimeoutMs: 200,
    headersTimeoutMs: 200,
    requestTimeoutMs: 400,
    idleTimeoutMs: 400,
    checkTimersEveryMs: 50,
  }

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
    app = createHttpsApp({ certificate, log: silentLogger, metrics: noMetrics, limits })
    app.post('/', () => 'ok')
    port = await listen(app, { host: '127.0.0.1', port: 0 })
  })
  afterEach(() => app.close())

  const closed = (socket: { on(event: string, listener: () => void): unknown }) =>
    new Promise<string>((resolve) => {
      socket.on('error', () => undefined)
      socket.on('close', () => resolve('closed'))
    })

  function secure(): Promise<TLSSocket> {
    return new Promise((resolve) => {
      const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: ca.certPem }, () =>
        resolve(socket),
      )
    })
  }

  it('closes who connects and says nothing', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.resume()
    expect(await closed(socket)).toBe('closed')
  })

  it('closes who says nothing after the handshake', async () => {
    const socket = await secure()
    socket.resume()
    expect(await closed(socket)).toBe('closed')
  })

  it('closes who never ends its headers', async () => {
    const socket = await secure()
    socket.resume()
    const drip = setInterval(() => socket.writable && socket.write('x'), 20)
    socket.write('POST / HTTP/1.1\r\n')
    expect(await closed(socket)).toBe('closed')
    clearInterval(drip)
  })

  it('closes who never ends its body, and serves others meanwhile', async () => {
    const socket = await secure()
    socket.resume()
    socket.write(
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n',
    )
    const drip = setInterval(() => socket.writable && socket.write('1'), 20)
    const over = closed(socket)
    const answer = await callHttps({ port, path: '/', ca: ca.certPem, method: 'POST' })
    expect(answer.text).toBe('ok')
    expect(await over).toBe('closed')
    clearInterval(drip)
  })
})
