import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEdgeConfig } from '@upgrade-hub/upgrader'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { readEnvironment } from './config.ts'
import { registrySettings } from './registry.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upgrade-hub-registry-'))
})

afterEach(() => rm(folder, { recursive: true }))

function configWith(registry: object) {
  return parseEdgeConfig(
    stringify({
      nodeName: 'edge-1',
      hub: { websocket: 'wss://hub:10000', https: 'https://hub:10002' },
      certificates: { ca: '/a', cert: '/b', key: '/c' },
      components: [{ name: 'a', binary: '/a', service: { manager: 'systemd', unit: 'a.service' } }],
      registry,
    }),
  )
}

const fromEnvironment = (env: Record<string, string>) => readEnvironment(env).proxy

describe('how a node asks registries', () => {
  it('is by default every one of them, by HTTPS, as nobody', async () => {
    expect(await registrySettings(configWith({}), undefined)).toEqual({
      plainHttp: [],
      allow: [],
      mirrors: {},
    })
  })

  it('has a CA and credentials out of files, which are read anew each time (R27, R28)', async () => {
    const [caFile, credentialsFile] = [join(folder, 'ca.pem'), join(folder, 'config.json')]
    const config = configWith({ caFile, credentialsFile })
    for (const secret of ['first', 'second']) {
      await writeFile(caFile, secret)
      await writeFile(credentialsFile, JSON.stringify({ auths: { r: { username: 'me', password: secret } } }))
      const { ca, credentials } = await registrySettings(config, undefined)
      expect([ca, credentials?.get('r')]).toEqual([
        secret,
        { kind: 'password', username: 'me', password: secret },
      ])
    }
    await rm(caFile)
    await expect(registrySettings(config, undefined)).rejects.toThrow('ENOENT')
  })

  it('goes by the proxy of the environment, and rather by that of the configuration', async () => {
    const env = fromEnvironment({ HTTPS_PROXY: 'http://a:1', no_proxy: 'x,y', http_proxy: 'http://b:1' })
    const settings = await registrySettings(configWith({}), env)
    expect(settings.proxy).toEqual({ http: 'http://b:1', https: 'http://a:1', noProxy: 'x,y' })
    const own = configWith({ proxy: { https: 'http://c:1', noProxy: ['.example', '10.0.0.1'] } })
    const { proxy } = await registrySettings(own, env)
    expect(proxy).toEqual({ https: 'http://c:1', noProxy: '.example,10.0.0.1' })
  })

  it('can be what the README shows', async () => {
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8')
    const example = /```yaml\n(registry:[^`]+)```/.exec(readme)?.[1] ?? ''
    const { registry } = configWith((parse(example) as { registry: object }).registry)
    expect(registry).toMatchObject({ mirrors: { 'docker.io': ['mirror.example.com', 'docker.io'] } })
  })

  it('goes straight where nobody names a proxy', () => {
    expect(fromEnvironment({ NO_PROXY: '*', HTTPS_PROXY: '' })).toBeUndefined()
  })
})
