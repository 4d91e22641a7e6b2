import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import { createCa, createNodeCsr } from '@upgrade-hub/pki'
import type { Result } from '@upgrade-hub/protocol'
import { type EdgeConfig, postResult } from '@upgrade-hub/upgrader'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

const RESULT: Result = {
  UpgradeID: 'job',
  HistoryID: 'job-1.1',
  NodeName: 'edge-1',
  FromVersion: 'v1.0.0',
  ToVersion: 'v1.1.0',
  Status: 'upgrade_success',
  Reason: '',
}

let folder: string
let server: Server
let config: EdgeConfig
let answer: (response: ServerResponse) => void
const seen: { peer: unknown; url: string | undefined; body: unknown }[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upgrade-hub-post-'))
  const ca = await createCa({ commonName: 'hub', validDays: 1 })
  const tls = await ca.issueServer({ dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], validDays: 1 })
  const { csrDer, keyPem } = await createNodeCsr({ nodeName: 'edge-1' })
  const { certPem } = await ca.signNodeCsr(csrDer, { nodeName: 'edge-1', validSeconds: 3600 })
  const files = { ca: ca.certPem, cert: certPem, key: keyPem }
  for (const [name, pem] of Object.entries(files)) await writeFile(join(folder, name), pem)
  const options = {
    cert: tls.certPem,
    key: tls.keyPem,
    ca: ca.certPem,
    requestCert: true,
    rejectUnauthorized: true,
  }
  server = createServer(options, (request, response) => {
    void json(request).then((body) => {
      const { socket } = request
      const peer = socket instanceof TLSSocket ? socket.getPeerCertificate().subject.CN : undefined
      seen.push({ peer, url: request.url, body })
      answer(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  config = {
    hub: { https: `https://127.0.0.1:${(server.address() as AddressInfo).port}` },
    certificates: { ca: join(folder, 'ca'), cert: join(folder, 'cert'), key: join(folder, 'key') },
  } as EdgeConfig
})

afterEach(() => void seen.splice(0))

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true, force: true })
})

describe('a posted result', () => {
  it('goes out with the certificate of the node, and 200 is the end of it', async () => {
    answer = (response) => response.end('ok')
    expect(await postResult(config, RESULT)).toEqual({ kind: 'stored' })
    expect(seen).toEqual([{ peer: 'system:node:edge-1', url: '/nodeupgrade', body: RESULT }])
  })

  it.each([400, 403, 404, 413])('that is answered %d is refused for good', async (status) => {
    answer = (response) => response.writeHead(status).end('{"code":"X"}')
    expect(await postResult(config, RESULT)).toEqual({ kind: 'rejected', status, why: '{"code":"X"}' })
  })

  it.each([401, 408, 429, 500, 502])('that is answered %d is tried again', async (status) => {
    answer = (response) => response.writeHead(status).end()
    expect(await postResult(config, RESULT)).toEqual({ kind: 'retry', why: `HTTP ${status}` })
  })

  it('waits as long as the hub asks', async () => {
    answer = (response) => response.writeHead(503, { 'retry-after': '7' }).end()
    expect(await postResult(config, RESULT)).toMatchObject({ kind: 'retry', afterMs: 7000 })
  })

  it.each<[string, (response: ServerResponse) => void]>([
    ['breaks off', (response) => response.destroy()],
    ['is endless', (response) => response.end(Buffer.alloc(1024 * 1024))],
  ])('whose answer %s is tried again', async (_, behave) => {
    answer = behave
    expect(await postResult(config, RESULT)).toMatchObject({ kind: 'retry' })
  })

  it('goes to nobody else than the hub of our CA', async () => {
    const other = await createCa({ commonName: 'other', validDays: 1 })
    await writeFile(join(folder, 'other'), other.certPem)
    const certificates = { ...config.certificates, ca: join(folder, 'other') }
    expect(await postResult({ ...config, certificates }, RESULT)).toMatchObject({ kind: 'retry' })
    expect(seen).toEqual([])
  })

  it('stays when the certificate is not there', async () => {
    const certificates = { ...config.certificates, cert: '/no/such/file' }
    expect(await postResult({ ...config, certificates }, RESULT)).toMatchObject({ kind: 'retry' })
  })
})
