import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AGENT, FILE, PullBench, startTestProxy } from './testing/index.ts'

let bench: PullBench

beforeEach(async () => {
  bench = await PullBench.create()
})

afterEach(() => bench.remove())

const imageAt = (registry: string) => ({ registry, repository: 'team/edge', tag: 'v1.1.0' })

/** S43: a job names the registry; it must not be able to make a node ask its own network. */
describe('a registry', () => {
  it('that is not allowed is not asked', async () => {
    const { requests } = await bench.serve()
    const pull = bench.pull({ registry: { allow: ['registry.example'] } })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_NOT_ALLOWED', edgeCode: 'PolicyRefused' })
    expect(requests).toEqual([])
  })

  it.each([
    '127.0.0.1:1',
    '169.254.169.254',
    '0x7f.1',
    '2130706433',
    '10.0.0.1:6443',
    'localhost:1',
    'a.localhost',
    '0.0.0.0:1',
  ])('at the address %s, which nobody has named, is not asked', async (host) => {
    const pull = bench.pull({ image: imageAt(host), registry: { plainHttp: [] } })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_ADDRESS_REFUSED', edgeCode: 'PolicyRefused' })
  })

  it('that carries cloud metadata is refused even where it is named', async () => {
    const pull = bench.pull({
      image: imageAt('169.254.169.254'),
      registry: { plainHttp: ['169.254.169.254'] },
    })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_ADDRESS_REFUSED' })
  })
})

/** S43, CVE-2020-15157 */
describe('a redirect', () => {
  it('is followed without the token of the registry', async () => {
    await bench.publish([[AGENT]])
    const { host } = await bench.serve((request, response) => {
      if (request.url?.startsWith('/token')) return (response.end('{"token":"t0k3n"}'), true)
      if (request.headers.authorization !== 'Bearer t0k3n') {
        const challenge = `Bearer realm="http://${host}/token",service="x",scope="repository:team/edge:pull"`
        return (response.writeHead(401, { 'www-authenticate': challenge }).end(), true)
      }
      if (!request.url?.includes('/blobs/')) return false
      return (response.writeHead(307, { location: `http://${storage.host}${request.url}` }).end(), true)
    })
    const authorizations: (string | undefined)[] = []
    const storage = await bench.serve(
      (request) => (authorizations.push(request.headers.authorization), false),
    )
    expect((await bench.pull()).files[FILE]?.size).toBe(9)
    expect(authorizations.length).toBeGreaterThan(0)
    expect(authorizations.filter((value) => value !== undefined)).toEqual([])
  })

  it('to storage that nobody has named is refused at a private address', async () => {
    await bench.publish([[AGENT]])
    const registry = await bench.serve((request, response) => {
      if (!request.url?.includes('/blobs/')) return false
      return (response.writeHead(307, { location: `http://${storage.host}${request.url}` }).end(), true)
    })
    const storage = await bench.serve()
    const pull = bench.pull({ registry: { plainHttp: [registry.host] } })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_ADDRESS_REFUSED' })
    expect(storage.requests).toEqual([])
  })

  it('in a circle ends', async () => {
    const { requests } = await bench.serve(
      (request, response) => (response.writeHead(302, { location: request.url }).end(), true),
    )
    await expect(bench.pull()).rejects.toMatchObject({ code: 'OCI_REDIRECT_REFUSED', edgeCode: 'PullFailed' })
    expect(requests).toHaveLength(6)
  })

  it.each([
    ['http://169.254.169.254/latest', 'OCI_ADDRESS_REFUSED'],
    ['http://localhost:1/', 'OCI_ADDRESS_REFUSED'],
    ['http://[::1]/', 'OCI_ADDRESS_REFUSED'],
    ['http://[::ffff:127.0.0.1]/', 'OCI_ADDRESS_REFUSED'],
    ['file:///etc/passwd', 'OCI_REDIRECT_REFUSED'],
    ['http://a:b@c/', 'OCI_REDIRECT_REFUSED'],
  ])('to %s is refused', async (location, code) => {
    await bench.serve((_, response) => (response.writeHead(302, { location }).end(), true))
    await expect(bench.pull()).rejects.toMatchObject({ code })
  })
})

describe('a proxy', () => {
  it('takes what goes out, with the name and the password of its URL', async () => {
    await bench.publish([[AGENT]])
    const { host } = await bench.serve()
    const proxy = await startTestProxy()
    const http = `http://me:pass%20word@${proxy.host}`
    const { files } = await bench.pull({ registry: { proxy: { http, noProxy: '' } } })
    expect(files[FILE]?.size).toBe(9)
    expect(new Set(proxy.targets)).toEqual(new Set([host]))
    const pair = Buffer.from('me:pass word').toString('base64')
    expect(new Set(proxy.authorizations)).toEqual(new Set([`Basic ${pair}`]))
    await proxy.stop()
  })

  it.each(['127.0.0.1', '*', 'a.example, 127.0.0.1'])(
    'is not asked for what noProxy names: %s',
    async (noProxy) => {
      await bench.publish([[AGENT]])
      const proxy = await startTestProxy()
      await bench.pull({ registry: { proxy: { http: `http://${proxy.host}`, noProxy } } })
      expect(proxy.targets).toEqual([])
      await proxy.stop()
    },
  )

  it('that refuses is told as what it is', async () => {
    const proxy = await startTestProxy()
    await proxy.stop()
    const pull = bench.pull({ registry: { proxy: { http: `http://u:s3cret@${proxy.host}`, noProxy: '' } } })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_UNREACHABLE' })
    await expect(pull).rejects.not.toThrow(/s3cret/)
  })
})
