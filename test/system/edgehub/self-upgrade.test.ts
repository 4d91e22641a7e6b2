import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@upgrade-hub/core'
import { ImageStore, startTestRegistry, type TestRegistry } from '@upgrade-hub/oci/testing'
import { type Component, createService, parseEdgeConfig, type Service } from '@upgrade-hub/upgrader'
import { createNode, type NodeFixture, prepareFor } from '@upgrade-hub/upgrader/testing'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { FakeHub, until } from './fake-hub.ts'

const TIMEOUT = { timeout: 90_000 }
const MAINS = ['edgehub', 'edgeadm'].map((name) => ({
  name,
  entry: fileURLToPath(new URL(`../../../apps/${name}/src/main.ts`, import.meta.url)),
}))
const OWN = '"0.1.0"'

/** The programs of a release, as files of the node's package. */
type Release = Readonly<Record<string, string>>

let hub: FakeHub
let registry: TestRegistry
let node: NodeFixture
let service: Service
let home: string

async function bundled(entry: string): Promise<string> {
  const options = { bundle: true, platform: 'node', format: 'cjs', minifyWhitespace: true } as const
  const { outputFiles } = await build({ entryPoints: [entry], write: false, logLevel: 'silent', ...options })
  return outputFiles[0]?.text ?? ''
}

async function publish(images: ImageStore, version: string, release: Release): Promise<void> {
  const files = Object.entries(release).map(([name, content]) => ({ name: `usr/local/bin/${name}`, content }))
  await images.publish(version, files)
}

beforeAll(async () => {
  const texts = await Promise.all(MAINS.map(({ entry }) => bundled(entry)))
  const release: Release = Object.fromEntries(MAINS.map(({ name }, at) => [`${name}.cjs`, texts[at] ?? '']))
  const of = (version: string, change: (text: string) => string = (text) => text): Release =>
    Object.fromEntries(
      Object.entries(release).map(([name, text]) => [name, change(text.replaceAll(OWN, `"${version}"`))]),
    )
  const images = new ImageStore()
  await publish(images, 'v0.2.0', of('0.2.0'))
  // It runs, and says its version, and the hub does not understand it.
  await publish(
    images,
    'v0.3.0',
    of('0.3.0', (text) => text.replaceAll('hello:"hello"', 'hello:"hullo"')),
  )
  hub = await FakeHub.start()
  registry = await startTestRegistry(images)
  node = await createNode({ registry: registry.host })
  home = join(node.root, 'lib')
  await mkdir(home)
  for (const [name, text] of Object.entries(release)) await writeFile(join(home, name), text, { mode: 0o755 })
  const component = {
    name: 'edgehub',
    binary: join(home, 'edgehub.cjs'),
    companions: [join(home, 'edgeadm.cjs')],
    runner: process.execPath,
    service: {
      manager: 'process',
      args: ['--config', node.configPath],
      pidFile: join(node.root, 'run/edgehub.pid'),
      logFile: join(node.root, 'log/edgehub.log'),
    },
  }
  const config = stringify({
    ...node.config,
    hub: { websocket: hub.websocket, https: hub.https },
    certificates: await hub.enrol(),
    components: [...node.config.components, component],
  })
  await writeFile(node.configPath, config)
  service = createService(parseEdgeConfig(config).components[1] as Component, systemClock)
  await service.start()
}, 60_000)

afterAll(async () => {
  await service.stop()
  await node.remove()
  await registry.stop()
  await hub.stop()
})

async function upgradeTo(Version: string, Epoch: number, upgradeSeconds: number) {
  const Image = `${registry.host}/upgrade-hub/node`
  const prepare = prepareFor({
    Task: `to-${Epoch}`,
    TaskUID: `uid-${Epoch}`,
    Image,
    Version,
    Component: 'edgehub',
  })
  const { Task, TaskUID, Attempt, NodeUID, HistoryID } = prepare
  const Timeouts = { ...prepare.Timeouts, upgradeSeconds }
  expect(await hub.ask('upgrade', { ...prepare, Timeouts })).toMatchObject({ Value: 'prepared' })
  const proceed = { Task, TaskUID, Attempt, IntentSeq: 2, NodeUID, Epoch, ValidForSeconds: 60 }
  await hub.ask('proceed', proceed, 'first')
  await until(() => hub.resultOf(HistoryID) !== undefined)
  return hub.resultOf(HistoryID)
}

const says = async (name: string) =>
  /"(0\.\d\.0)"/.exec((await readFile(join(home, name), 'utf8')).replaceAll('"0.0.0"', ''))?.[1]

describe('edgehub upgrades itself as it upgrades the agent', () => {
  it('and the new one has its session before the old one is given up', TIMEOUT, async () => {
    expect(await upgradeTo('v0.2.0', 1, 30)).toMatchObject({
      Outcome: 'Succeeded',
      FromVersion: 'v0.1.0',
      RunningVersion: 'v0.2.0',
    })
    expect(hub.hellos.map(({ edgeVersion }) => edgeVersion)).toEqual(['0.1.0', '0.2.0'])
    expect(await says('edgehub.cjs')).toBe('0.2.0')
    expect(await node.starts()).toEqual(['v1.0.0'])
  })

  it('and comes back by itself when the new one cannot reach the hub', TIMEOUT, async () => {
    expect(await upgradeTo('v0.3.0', 2, 6)).toMatchObject({
      Outcome: 'RolledBack',
      Code: 'UpgradeTimeout',
      RunningVersion: 'v0.2.0',
    })
    await until(() => hub.session !== undefined)
    expect(hub.hellos.at(-1)?.edgeVersion).toBe('0.2.0')
    expect(await says('edgehub.cjs')).toBe('0.2.0')
  })
})
