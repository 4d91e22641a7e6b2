import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '@upgrade-hub/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkConfig, loadConfig, printConfig, readFlags } from '../config.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'cloudhub-config-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function load(yaml: string, args: string[] = [], environment: Record<string, string> = {}) {
  const path = join(dir, 'hub.yaml')
  await writeFile(path, yaml)
  return loadConfig(readFlags(['--config', path, ...args]), environment)
}

async function problemsOf(loading: Promise<unknown>): Promise<readonly string[]> {
  const error = await loading.catch((thrown: unknown) => thrown)
  return error instanceof ConfigError ? error.problems : [`no ConfigError but ${String(error)}`]
}

describe('loadConfig', () => {
  it('fills every default, so that an empty file is enough', async () => {
    const config = await load('')
    expect(config.listen).toMatchObject({ websocketPort: 10_000, httpsPort: 10_002 })
    expect(config.roles).toEqual({ controllers: true, channel: true, webhooks: true })
    expect(await loadConfig(readFlags([]), {})).toEqual(config)
  })

  it('lets the environment win over the file and a flag over both', async () => {
    const yaml = 'listen: { host: 10.0.0.1, httpsPort: 1, metricsPort: 2 }'
    const environment = { UPGRADE_HUB_HTTPS_PORT: '3', UPGRADE_HUB_METRICS_PORT: '4' }
    const { listen } = await load(yaml, ['--metrics-port', '5'], environment)
    expect(listen).toMatchObject({ host: '10.0.0.1', httpsPort: 3, metricsPort: 5 })
  })

  it('switches roles off by flag and by environment', async () => {
    const config = await load('', ['--no-webhooks'], { UPGRADE_HUB_CONTROLLERS: 'false' })
    expect(config.roles).toEqual({ controllers: false, channel: true, webhooks: false })
  })

  it('reads lists from repeated flags and from commas', async () => {
    const config = await load('', ['--advertise-dns', 'a.example,b.example', '--advertise-dns', 'c.example'])
    expect(config.advertise.dnsNames).toEqual(['a.example', 'b.example', 'c.example'])
  })

  it('lists every problem at once, by the path of its setting', async () => {
    const yaml = 'logLevel: loud\nlisten: { httpsPort: 70000, sockets: 1 }\nembeded: {}\nstopSeconds: soon'
    expect(await problemsOf(load(yaml, ['--metrics-port', 'x']))).toEqual([
      'embeded: is not a setting',
      'logLevel: must be one of debug, info, warn, error, silent',
      'listen.sockets: is not a setting',
      'listen.httpsPort: must be <= 65535',
      'listen.metricsPort: must be integer',
      'stopSeconds: must be integer',
    ])
  })

  it.each([
    ['an embedded API beside a kubeconfig', { embedded: { enabled: true }, kubernetes: { kubeconfig: 'x' } }],
    ['no role', { roles: { controllers: false, channel: false, webhooks: false } }],
    ['two servers on one port', { listen: { httpsPort: 7, webhookPort: 7 } }],
  ])('refuses %s', (_, value) => {
    expect(() => checkConfig(value)).toThrow(ConfigError)
  })

  it.each([
    ['a flag that does not exist', () => readFlags(['--wonder'])],
    ['a flag without its value', () => readFlags(['--host'])],
    ['a word that is no flag', () => readFlags(['hub'])],
  ])('refuses %s', (_, read) => {
    expect(read).toThrow(ConfigError)
  })

  it('says which file is missing, not YAML, or too large', async () => {
    expect(await problemsOf(loadConfig(readFlags(['--config', join(dir, 'none')]), {}))).toEqual([
      expect.stringContaining('ENOENT'),
    ])
    expect(await problemsOf(load('a: [1'))).toHaveLength(1)
    expect(await problemsOf(load('- list'))).toEqual(['must be a mapping of settings'])
    expect(await problemsOf(load(`# ${'x'.repeat(300_000)}`))).toEqual(['larger than 262144 bytes'])
  })

  it('refuses YAML that multiplies itself', async () => {
    expect(await problemsOf(load('a: &a [1]\nlogLevel: *a'))).toHaveLength(1)
  })
})

describe('printConfig', () => {
  it('prints the configuration that is used, as YAML that loads again', async () => {
    const config = await load('listen: { httpsPort: 1 }')
    const printed = printConfig(config)
    expect(await load(printed)).toEqual(config)
  })
})
