import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HealthProbe } from '@upgrade-hub/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EdgeConfig } from '../config.ts'
import { probeProblem } from '../probe-rules.ts'
import { askOn } from './ask-probe.ts'

const config = {
  policy: { probes: { fine: ['/bin/true'], bad: ['/bin/false'], slow: ['/bin/sleep', '60'] } },
} as unknown as EdgeConfig
const ask = askOn(config)

let server: Server
let port: number
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/silent') return
    response.writeHead(Number(request.url?.slice(1)), { location: 'http://192.0.2.1/' })
    // Endless, as a hostile agent would.
    response.write('x'.repeat(65_536))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('asking a probe', () => {
  it.each([
    [200, undefined],
    [302, undefined],
    [404, 'HTTP 404'],
    [503, 'HTTP 503'],
  ])('by HTTP takes status %i for %s, and follows nothing', async (status, expected) => {
    expect(await ask({ httpGet: { port, path: `/${status}` } }, 2000)).toBe(expected)
  })

  it('by TCP asks whether a port is open', async () => {
    expect(await ask({ tcpSocket: { port } }, 2000)).toBeUndefined()
    expect(await ask({ tcpSocket: { port: 1 } }, 2000)).toContain('ECONNREFUSED')
  })

  it.each<[HealthProbe]>([[{ httpGet: { port: 0, path: '/silent' } }], [{ exec: { name: 'slow' } }]])(
    'gives up when its time is over: %j',
    async (probe) => {
      const wanted = probe.httpGet ? { httpGet: { ...probe.httpGet, port } } : probe
      expect(await ask(wanted, 50)).toBeTypeOf('string')
    },
  )

  it('by exec runs what the node lists and nothing else (S40)', async () => {
    expect(await ask({ exec: { name: 'fine' } }, 2000)).toBeUndefined()
    expect(await ask({ exec: { name: 'bad' } }, 2000)).toContain('/bin/false failed')
    for (const name of ['/bin/true', '../fine', 'toString', '__proto__'])
      expect(probeProblem({ exec: { name } }, config)).toBe(`this node has no probe ${name}`)
  })

  it.each<[HealthProbe]>([[{}], [{ tcpSocket: { port: 1 }, httpGet: { port: 1, path: '/' } }]])(
    'that is not exactly one thing is refused: %j',
    (probe) => {
      expect(probeProblem(probe, config)).toContain('one of')
    },
  )
})
