import { randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { type Ca, createCa, identityOf, issueToken, verifyToken } from '@upgrade-hub/pki'
import { loadEdgeConfig, parseEdgeConfig } from '@upgrade-hub/upgrader'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CommandContext } from '../commands/command.ts'
import { configText } from './config-file.ts'
import { certRenew, join } from './index.ts'
import { planJoin } from './plan.ts'

const signingKey = randomBytes(32)
const HOUR_MS = 3_600_000
let ca: Ca
let otherCa: Ca
beforeAll(async () => {
  ca = await createCa({ commonName: 'hub', validDays: 1 })
  otherCa = await createCa({ commonName: 'other', validDays: 1 })
})

let root: string
let server: Server
let port: number
/** What the hub was asked, and how it shall misbehave. */
let asked: { by: string; nodeName: string }[]
let misbehave: { status?: number; body?: Buffer; dropAfterSigning?: boolean; signer?: Ca; nodeName?: string }

beforeEach(async () => {
  root = await mkdtemp(joinPath(tmpdir(), 'join-'))
  asked = []
  misbehave = {}
  const { certPem, keyPem } = await ca.issueServer({ dnsNames: [], ipAddresses: ['127.0.0.1'], validDays: 1 })
  const tls = { cert: certPem, key: keyPem, ca: ca.certPem, requestCert: true, rejectUnauthorized: false }
  server = createServer(tls, (request, response) => {
    if (request.url === '/ca.crt') return void response.end(ca.certDer)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const nodeName = String(request.headers['nodename'])
      const jwt = request.headers.authorization?.replace('Bearer ', '')
      const peer = (request.socket as TLSSocket).getPeerX509Certificate()
      const by = jwt
        ? verifyToken(jwt, { signingKey, now: Date.now() }).id
        : peer
          ? (identityOf(peer)?.nodeName ?? '')
          : ''
      asked.push({ by, nodeName })
      if (misbehave.status)
        return void response
          .writeHead(misbehave.status)
          .end('{"code":"ALREADY_ENROLLED","message":"ask somebody"}')
      if (misbehave.body) return void response.end(misbehave.body)
      const signer = misbehave.signer ?? ca
      void signer
        .signNodeCsr(Buffer.concat(chunks), { nodeName: misbehave.nodeName ?? nodeName, validSeconds: 3600 })
        .then(({ certDer }) =>
          misbehave.dropAfterSigning ? request.socket.destroy() : response.end(certDer),
        )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await rm(root, { recursive: true })
})

const token = (of: Ca = ca) =>
  issueToken({ caDer: of.certDer, signingKey, id: 't1', expiresAt: Date.now() + HOUR_MS })
const file = (path: string) => joinPath(root, path)
const CERT = 'etc/kubeedge/edgehub/node.crt'
const KEY = 'etc/kubeedge/edgehub/node.key'
const CONFIG = 'etc/kubeedge/config/edgehub.yaml'

function context(values: CommandContext['values']): CommandContext & { printed: string[] } {
  const printed: string[] = []
  return {
    values,
    clock: systemClock,
    log: silentLogger,
    at: () => Promise.resolve(),
    proxy: undefined,
    ready: () => Promise.resolve(),
    config: () => loadEdgeConfig(file(CONFIG)),
    print: (text) => printed.push(text),
    ask: () => Promise.resolve(false),
    printed,
  }
}

function joining(more: CommandContext['values'] = {}): Promise<number> {
  const given = { hub: '127.0.0.1', token: token(), 'node-name': 'edge-1', 'https-port': String(port), root }
  return join.run(context({ ...given, service: 'process', ...more }))
}

const isThere = (path: string) =>
  access(file(path)).then(
    () => true,
    () => false,
  )

describe('edgeadm join', () => {
  it('leaves CA, key, certificate and a valid configuration', async () => {
    expect(await joining({ 'register-node': true })).toBe(0)
    expect(asked).toEqual([{ by: 't1', nodeName: 'edge-1' }])
    const cert = new X509Certificate(await readFile(file(CERT)))
    expect(identityOf(cert)?.nodeName).toBe('edge-1')
    expect((await stat(file(KEY))).mode & 0o777).toBe(0o600)
    const config = await loadEdgeConfig(file(CONFIG))
    expect(config).toMatchObject({
      nodeName: 'edge-1',
      hub: { websocket: 'wss://127.0.0.1:10000', https: `https://127.0.0.1:${port}` },
      registerNode: true,
      detach: 'session',
      components: [
        { name: 'edgecore', binary: file('usr/local/bin/edgecore'), service: { manager: 'process' } },
      ],
    })
    expect(await readFile(config.certificates.ca)).toEqual(Buffer.from(ca.certPem.trimEnd() + '\n'))
  })

  it('keeps the key when it is run again, and what an operator wrote into the configuration', async () => {
    await joining()
    const key = await readFile(file(KEY), 'utf8')
    const text = await readFile(file(CONFIG), 'utf8')
    await writeFile(file(CONFIG), `# ours\n${text}logLevel: debug # while we look\n`)
    await joining({ hub: '127.0.0.1:11000' })
    expect(await readFile(file(KEY), 'utf8')).toBe(key)
    const again = await readFile(file(CONFIG), 'utf8')
    expect(again).toContain('# ours')
    expect(again).toContain('# while we look')
    expect(await loadEdgeConfig(file(CONFIG))).toMatchObject({
      logLevel: 'debug',
      hub: { websocket: 'wss://127.0.0.1:11000' },
    })
  })

  it('comes again with the same key when the answer was lost', async () => {
    misbehave = { dropAfterSigning: true }
    await expect(joining()).rejects.toMatchObject({ code: 'EDGEADM_JOIN_UNREACHABLE', retry: 'backoff' })
    const key = await readFile(file(KEY), 'utf8')
    expect(await isThere(CERT)).toBe(false)
    misbehave = {}
    expect(await joining()).toBe(0)
    expect(await readFile(file(KEY), 'utf8')).toBe(key)
  })

  it('gives its token to no server whose CA is another than the token says', async () => {
    await expect(joining({ token: token(otherCa) })).rejects.toMatchObject({ code: 'EDGEADM_JOIN_WRONG_CA' })
    expect(asked).toEqual([])
    expect(await isThere('etc')).toBe(false)
  })

  it('takes no certificate of another CA, node or shape', async () => {
    for (const bad of [
      { signer: otherCa },
      { nodeName: 'edge-2' },
      { body: Buffer.from('no') },
      { body: ca.certDer },
    ]) {
      misbehave = bad
      await expect(joining()).rejects.toMatchObject({ code: 'EDGEADM_JOIN_BAD_CERTIFICATE' })
      expect(await isThere(CERT)).toBe(false)
    }
    misbehave = { body: Buffer.alloc(70_000) }
    await expect(joining()).rejects.toMatchObject({ code: 'EDGEADM_JOIN_UNREACHABLE' })
  })

  it("says the hub's own reason when it is refused, and whether to try again", async () => {
    misbehave = { status: 409 }
    await expect(joining()).rejects.toMatchObject({
      code: 'EDGEADM_JOIN_REFUSED',
      retry: 'never',
      message: 'the hub answered 409: ALREADY_ENROLLED ask somebody',
    })
    misbehave = { status: 503 }
    await expect(joining()).rejects.toMatchObject({ retry: 'backoff' })
  })

  it('names every mistake of its arguments at once and touches nothing', async () => {
    const values = { hub: 'a b', 'node-name': 'Edge', 'https-port': '0', service: 'init', token: 'x', root }
    await expect(join.run(context(values))).rejects.toThrow(
      /--hub[^]*--node-name[^]*--https-port[^]*--service[^]*token/,
    )
    expect(await isThere('etc')).toBe(false)
  })

  it('refuses a configuration that is there and broken before it asks the hub for anything', async () => {
    await joining()
    asked = []
    await writeFile(file(CONFIG), 'nodeName: [')
    await expect(joining()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    expect(asked).toEqual([])
  })

  it('writes units that start this release, resume before the agent, and quote their arguments', async () => {
    await joining({ service: 'systemd' })
    const edgehub = await readFile(file('etc/systemd/system/edgehub.service'), 'utf8')
    expect(edgehub).toContain(`"--config" "${file(CONFIG)}"`)
    expect(edgehub).toContain('Restart=always')
    expect(edgehub).toContain('KillMode=process')
    const resume = await readFile(file('etc/systemd/system/upgrade-hub-resume.service'), 'utf8')
    expect(resume).toContain('"attempt" "resume"')
    expect(resume).toContain('Before=edgecore.service')
    expect(resume).toMatch(/TimeoutStartSec=\d+/)
  })
})

describe('edgeadm cert renew', () => {
  it('replaces the certificate by a fresh one for the same key, asked for with the old one', async () => {
    await joining()
    const before = await readFile(file(CERT), 'utf8')
    const key = await readFile(file(KEY), 'utf8')
    expect(await certRenew.run(context({}))).toBe(0)
    const after = await readFile(file(CERT), 'utf8')
    expect(asked.at(-1)).toEqual({ by: 'edge-1', nodeName: 'edge-1' })
    expect(after).not.toBe(before)
    expect(identityOf(new X509Certificate(after))).toEqual(identityOf(new X509Certificate(before)))
    expect(await readFile(file(KEY), 'utf8')).toBe(key)
  })

  it('keeps the certificate when the hub refuses or sends a wrong one', async () => {
    await joining()
    const before = await readFile(file(CERT), 'utf8')
    for (const bad of [{ status: 403 }, { signer: otherCa }]) {
      misbehave = bad
      await expect(certRenew.run(context({}))).rejects.toMatchObject({
        code: expect.stringMatching(/^EDGEADM_JOIN_/),
      })
      expect(await readFile(file(CERT), 'utf8')).toBe(before)
    }
  })
})

describe('the configuration of a new node', () => {
  const token = `${'a'.repeat(64)}.x.y.z`
  const release = { runner: '/lib/bin/node', edgehub: '/lib/edgehub.cjs', edgeadm: '/lib/edgeadm.cjs' }
  const componentsOf = (service: string, existing?: string) => {
    const plan = planJoin({ hub: 'h', 'node-name': 'n1', token, service })
    return parseEdgeConfig(configText(plan, existing, release)).components
  }

  it('describes the agent first and then the installed release, so that a job can upgrade both', () => {
    expect(componentsOf('systemd')).toMatchObject([
      { name: 'edgecore', service: { unit: 'edgecore.service' } },
      {
        name: 'edgehub',
        binary: '/lib/edgehub.cjs',
        companions: ['/lib/edgeadm.cjs'],
        runner: '/lib/bin/node',
        service: { unit: 'edgehub.service' },
      },
    ])
  })

  it('leaves components alone that an operator wrote, and names none that nothing keeps running', () => {
    const written = 'components: [{name: a, binary: /a, service: {manager: systemd, unit: a.service}}]'
    expect(componentsOf('systemd', written).map(({ name }) => name)).toEqual(['a'])
    expect(componentsOf('process').map(({ name }) => name)).toEqual(['edgecore'])
  })
})
