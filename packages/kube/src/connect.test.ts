import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect as connectSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KubeClient } from './client.ts'
import { connect, connectTo } from './connect.ts'
import { readInCluster, readKubeconfig } from './kubeconfig.ts'
import { NODES } from './resources.ts'
import { CLIENT, FakeApiServer, OTHER_SERVER, SERVER, until } from './testing/index.ts'

let server: FakeApiServer
let folder: string
let clock: FakeClock
const clients: KubeClient[] = []

beforeEach(async () => {
  server = await FakeApiServer.start()
  folder = await mkdtemp(join(tmpdir(), 'kube-connect-'))
  clock = new FakeClock()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(clients.splice(0).map((client) => client.close()))
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const base64 = (text: string) => Buffer.from(text).toString('base64')
const file = async (name: string, text: string) => {
  await writeFile(join(folder, name), text)
  return join(folder, name)
}

/** JSON is YAML. */
function kubeconfig(user: object, cluster: object = {}): Promise<string> {
  const at = { server: server.url, 'certificate-authority-data': base64(SERVER.ca), ...cluster }
  return file(
    'config',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'here', user: 'me' } }],
      clusters: [{ name: 'here', cluster: at }],
      users: [{ name: 'me', user }],
    }),
  )
}

async function connected(path: string): Promise<KubeClient> {
  const client = await connect({ kubeconfig: path, clock, log: silentLogger })
  clients.push(client)
  return client
}

const get = (client: KubeClient) =>
  client.list(NODES).then(
    () => 'let in',
    (error: Error & { code: string }) => error.code,
  )

describe('a kubeconfig', () => {
  it('with a token lets in, and with none does not', async () => {
    expect(await get(await connected(await kubeconfig({ token: 'test-token' })))).toBe('let in')
    expect(await get(await connected(await kubeconfig({})))).toBe('KUBE_UNAUTHORIZED')
    expect(server.requests).toHaveLength(2)
  })

  it('with a user and password lets in', async () => {
    server.tokens.add(base64('ann:secret'))
    expect(await get(await connected(await kubeconfig({ username: 'ann', password: 'secret' })))).toBe(
      'let in',
    )
  })

  it('with a client certificate in files next to it lets in', async () => {
    await file('client.crt', CLIENT.cert)
    await file('client.key', CLIENT.key)
    await file('ca.crt', SERVER.ca)
    const user = { 'client-certificate': 'client.crt', 'client-key': 'client.key' }
    const path = await kubeconfig(user, {
      'certificate-authority': 'ca.crt',
      'certificate-authority-data': undefined,
    })
    expect(await get(await connected(path))).toBe('let in')
  })

  it('that acts as somebody else says so with all groups', async () => {
    const user = { token: 'test-token', as: 'ann', 'as-groups': ['a', 'b'], 'as-uid': 'u' }
    await get(await connected(await kubeconfig(user)))
    const headers = server.requests[0]?.headers ?? {}
    expect([headers['impersonate-user'], headers['impersonate-group'], headers['impersonate-uid']]).toEqual([
      'ann',
      'a, b',
      'u',
    ])
  })

  it('is merged with others as kubectl does: the first of each name wins', async () => {
    const first = await kubeconfig({ token: 'test-token' })
    const second = join(folder, 'second')
    await writeFile(
      second,
      (await readFile(first, 'utf8')).replace('test-token', 'other').replace('"test"', '"x"'),
    )
    expect((await readKubeconfig([first, second])).auth).toEqual({
      kind: 'bearer',
      token: { text: 'test-token' },
    })
  })

  it('reaches the server through a proxy', async () => {
    const targets: string[] = []
    const proxy = createServer().on('connect', (request, socket, head) => {
      targets.push(request.url ?? '')
      const onward = connectSocket(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        onward.write(head)
        onward.pipe(socket).pipe(onward)
      })
      onward.on('error', () => socket.destroy())
      socket.on('error', () => onward.destroy())
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    expect(
      await get(await connected(await kubeconfig({ token: 'test-token' }, { 'proxy-url': proxyUrl }))),
    ).toBe('let in')
    expect(targets).toEqual([`127.0.0.1:${server.port}`])
    proxy.close()
  })

  it.each([
    ['no server may be plain http beyond loopback', {}, { server: 'http://example.com' }, 'must be https'],
    ['no proxy may be SOCKS', {}, { 'proxy-url': 'socks5://127.0.0.1:1' }, 'must be http or https'],
    [
      'no plugin may want a terminal',
      { exec: { command: 'x', interactiveMode: 'Always' } },
      {},
      'wants a terminal',
    ],
    ['a plugin must have a command', { exec: { args: [] } }, {}, 'has no command'],
  ])('is refused: %s', async (_, user, cluster, message) => {
    const error = await connected(await kubeconfig(user, cluster)).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigError)
    expect(String(error)).toContain(message)
  })

  it('is refused when the context or the file does not exist', async () => {
    const path = await kubeconfig({})
    await expect(readKubeconfig([path], 'nope')).rejects.toThrow('context nope does not exist')
    await expect(readKubeconfig([join(folder, 'nope')])).rejects.toThrow('ENOENT')
    await expect(readKubeconfig([await file('bad', '{')])).rejects.toThrow(ConfigError)
  })
})

describe('a token file', () => {
  it('is read again as time goes by', async () => {
    const token = await file('token', 'test-token\n')
    const client = await connected(await kubeconfig({ tokenFile: token }))
    expect(await get(client)).toBe('let in')
    await writeFile(token, 'second')
    server.tokens.add('second')
    await clock.advance(30_000)
    await until('the new token', async () => {
      await get(client)
      return server.requests.at(-1)?.headers.authorization === 'Bearer second'
    })
  })

  it('is read again at once after a 401, and the write is then sent again', async () => {
    const token = await file('token', 'test-token')
    const client = await connected(await kubeconfig({ tokenFile: token }))
    await get(client)
    await clock.advance(10_000)
    server.tokens.clear()
    server.tokens.add('second')
    await writeFile(token, 'second')
    await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } })
    expect(server.requests.map((request) => request.method)).toEqual(['GET', 'POST', 'POST'])
  })

  it('that is missing is an error without a request, and is found once it is there', async () => {
    const client = await connected(await kubeconfig({ tokenFile: 'later' }))
    expect(await get(client)).toBe('KUBE_NO_CREDENTIALS')
    expect(server.requests).toHaveLength(0)
    await file('later', 'test-token')
    await clock.advance(6_000)
    expect(await get(client)).toBe('let in')
  })

  it('of a pod is used with the certificate authority of the pod', async () => {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '127.0.0.1')
    vi.stubEnv('KUBERNETES_SERVICE_PORT', String(server.port))
    const root = join(folder, 'var/run/secrets/kubernetes.io/serviceaccount')
    await mkdir(root, { recursive: true })
    await writeFile(join(root, 'ca.crt'), SERVER.ca)
    await writeFile(join(root, 'token'), 'test-token')
    await writeFile(join(root, 'namespace'), 'hub')
    const access = await readInCluster(folder)
    const client = connectTo(access, { clock, log: silentLogger })
    clients.push(client)
    expect([await get(client), access.namespace]).toEqual(['let in', 'hub'])
  })
})

describe('a certificate authority file', () => {
  it('that was replaced is used for new connections', async () => {
    const ca = await file('ca.crt', SERVER.ca)
    const path = await kubeconfig({ token: 'test-token' }, { 'certificate-authority': ca })
    const client = await connected(path)
    expect(await get(client)).toBe('let in')
    server.present(OTHER_SERVER)
    await writeFile(ca, OTHER_SERVER.ca)
    await clock.advance(30_000)
    await get(client)
    await until('a connection that trusts the new one', async () => {
      server.dropConnections()
      return (await client.list(NODES, { maxTries: 1 }).catch(() => undefined)) !== undefined
    })
    expect(server.handshakes).toBeGreaterThan(1)
  })
})

describe('a credential plugin', () => {
  /** Prints a token that names how often the plugin ran, and writes down what it was told. */
  const PLUGIN = `
    const fs = require('node:fs')
    const [log, seconds] = process.argv.slice(1)
    fs.appendFileSync(log, process.env.KUBERNETES_EXEC_INFO + '\\n')
    const runs = fs.readFileSync(log, 'utf8').trim().split('\\n').length
    const status = { token: 'token-' + runs }
    if (seconds) status.expirationTimestamp = new Date(Number(process.env.NOW) + seconds * 1000).toISOString()
    console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status }))`

  const plugin = (args: string[], more: object = {}) => ({
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', PLUGIN, ...args],
      env: [{ name: 'NOW', value: String(clock.now()) }],
      ...more,
    },
  })
  const runs = async (log: string) => (await readFile(log, 'utf8')).trim().split('\n')

  it('runs once for many calls, and is told about the cluster when it wants to know', async () => {
    const log = join(folder, 'log')
    server.tokens.add('token-1')
    const client = await connected(await kubeconfig(plugin([log], { provideClusterInfo: true })))
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(client)))
    expect(new Set(answers)).toEqual(new Set(['let in']))
    const told = await runs(log)
    expect(told).toHaveLength(1)
    expect(JSON.parse(told[0] ?? '')).toMatchObject({
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: server.url } },
    })
  })

  it('runs again before its token expires, while calls go on with the old one', async () => {
    const log = join(folder, 'log')
    for (const n of [1, 2]) server.tokens.add(`token-${n}`)
    const client = await connected(await kubeconfig(plugin([log, '600'])))
    await get(client)
    await clock.advance(500_000)
    await until('the second token', async () => {
      expect(await get(client)).toBe('let in')
      return server.requests.at(-1)?.headers.authorization === 'Bearer token-2'
    })
    expect(await runs(log)).toHaveLength(2)
  })

  it('runs again after a 401, once', async () => {
    const log = join(folder, 'log')
    server.tokens.add('token-1')
    const client = await connected(await kubeconfig(plugin([log])))
    await get(client)
    server.tokens.delete('token-1')
    server.tokens.add('token-2')
    await clock.advance(10_000)
    expect(await Promise.all([get(client), get(client), get(client)])).toEqual(['let in', 'let in', 'let in'])
    expect(await runs(log)).toHaveLength(2)
    server.tokens.clear()
    for (let i = 0; i < 5; i++) expect(await get(client)).toBe('KUBE_UNAUTHORIZED')
    expect(await runs(log)).toHaveLength(2)
  })

  it('that fails is an error which holds nothing it was given or said', async () => {
    const exec = {
      command: process.execPath,
      args: ['-e', 'console.error("s3cret"); process.exit(3)', 's3cret'],
    }
    const client = await connected(await kubeconfig({ exec }))
    const error = await client.list(NODES).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'KUBE_NO_CREDENTIALS',
      message: expect.stringContaining('ended with 3') as string,
    })
    expect(JSON.stringify(error) + String(error)).not.toContain('s3cret')
  })

  it('may give a client certificate', async () => {
    const status = { clientCertificateData: CLIENT.cert, clientKeyData: CLIENT.key }
    const answer = JSON.stringify({ kind: 'ExecCredential', status })
    const exec = { command: process.execPath, args: ['-e', 'console.log(process.argv[1])', answer] }
    expect(await get(await connected(await kubeconfig({ exec })))).toBe('let in')
  })
})
