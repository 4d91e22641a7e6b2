import { ImageStore, startTestRegistry, type TestRegistry } from '@upgrade-hub/oci/testing'
import { openAttemptStore } from '@upgrade-hub/upgrader'
import { agentProgram, createNode, type NodeFixture, prepareFor } from '@upgrade-hub/upgrader/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXIT } from './exit-codes.ts'
import { runEdgeadm } from './testing/run-edgeadm.ts'

const TIMEOUT_MS = 120_000

let registry: TestRegistry
let node: NodeFixture

beforeAll(async () => {
  const images = new ImageStore()
  await images.publish('v1.1.0', [{ name: 'usr/local/bin/edgecore', content: agentProgram('v1.1.0') }])
  await images.publish('v1.2.0', [
    { name: 'usr/local/bin/edgecore', content: agentProgram('v1.2.0', 'dies soon') },
  ])
  registry = await startTestRegistry(images)
  node = await createNode({ registry: registry.host })
})

afterAll(async () => {
  await node.remove()
  await registry.stop()
})

function edgeadm(...args: string[]) {
  return runEdgeadm([...args, '--config', node.configPath])
}

async function status(): Promise<{ components: object[]; attempts: object[]; undelivered: number }> {
  const { out } = await edgeadm('status', '--output', 'json')
  return JSON.parse(out) as { components: object[]; attempts: object[]; undelivered: number }
}

const upgrade = (version: string, ...more: string[]) =>
  edgeadm(
    'upgrade',
    'edge',
    '--toVersion',
    version,
    '--image',
    `${registry.host}/team/edge`,
    '--min-ready-seconds',
    '1',
    ...more,
  )

/** One node, by hand and without a hub; each test goes on where the one before it has ended. */
describe('edgeadm by hand', { timeout: TIMEOUT_MS }, () => {
  it('says what runs', async () => {
    expect(await status()).toMatchObject({
      components: [{ name: 'edgecore', version: 'v1.0.0', running: true, backups: [] }],
      attempts: [],
      undelivered: 0,
    })
  })

  it('changes nothing when nobody says yes', async () => {
    const { code, out } = await upgrade('v1.1.0')
    expect(code).toBe(EXIT.unchanged)
    expect(out).toContain('Cancelled')
    expect(await node.starts()).toEqual(['v1.0.0'])
  })

  it('upgrades, and no result waits for a hub', async () => {
    const { code, out } = await upgrade('v1.1.0', '--force', '--output', 'json')
    expect(JSON.parse(out)).toMatchObject({ result: { Outcome: 'Succeeded', RunningVersion: 'v1.1.0' } })
    expect(code).toBe(EXIT.ok)
    expect(await status()).toMatchObject({
      components: [{ version: 'v1.1.0', running: true, backups: ['v1.0.0'] }],
      undelivered: 0,
    })
    expect((await edgeadm('status')).out).toMatch(/^\S+ ended Succeeded Upgraded$/m)
  })

  it('rolls a bad version back, and says so by its exit code', async () => {
    const { code, out } = await upgrade('v1.2.0', '--force')
    expect(code).toBe(EXIT.rolledBack)
    expect(out).toContain('RolledBack: v1.1.0 -> v1.1.0')
  })

  it('does nothing when the program to run before it fails', async () => {
    expect((await edgeadm('backup', 'edge', '--pre-run', 'true')).code).toBe(EXIT.usage)
    const { code, out } = await edgeadm('backup', 'edge', '--pre-run', '/bin/false')
    expect([code, out]).toEqual([EXIT.unchanged, expect.stringContaining('nothing was done')])
    expect((await status()).components).toMatchObject([{ backups: ['v1.1.0', 'v1.0.0'] }])
  })

  it('backs up, and goes back to a version of before', async () => {
    const scripts = ['--pre-run', '/bin/true', '--post-run', '/bin/false']
    const { code: backedUp, err } = await edgeadm('backup', 'edge', ...scripts)
    expect([backedUp, err]).toEqual([EXIT.ok, expect.stringContaining('to run afterwards has failed')])
    const back = ['rollback', 'edge', '--historical-version', 'v1.0.0', '--min-ready-seconds', '1', '--force']
    const { code, out } = await edgeadm(...back)
    expect(out).toContain('Succeeded: v1.1.0 -> v1.0.0')
    expect(code).toBe(EXIT.ok)
    expect((await node.starts()).at(-1)).toBe('v1.0.0')
  })

  it('cannot go back to what was never backed up', async () => {
    expect((await edgeadm('rollback', 'edge', '--historical-version', 'v9.9.9', '--force')).code).toBe(
      EXIT.unchanged,
    )
  })

  it('holds the node for a person, and says so', async () => {
    expect((await edgeadm('ctl', 'release')).code).toBe(EXIT.unchanged)
    expect((await edgeadm('ctl', 'hold', '--reason', 'a measurement runs')).code).toBe(EXIT.ok)
    expect((await edgeadm('ctl', 'status')).out).toMatch(
      /held since \S+ a measurement runs\nedgehub does not run/,
    )
    expect((await edgeadm('ctl', 'release')).code).toBe(EXIT.ok)
    expect((await edgeadm('status')).out).not.toContain('held')
  })

  it('confirms what waits, and says when nothing does', async () => {
    expect((await edgeadm('ctl', 'confirm')).code).toBe(EXIT.unchanged)
    const store = openAttemptStore(node.config)
    await store.accept(prepareFor({ Image: `${registry.host}/team/edge`, RequireConfirmation: true }))
    const updater = edgeadm('attempt', 'run', '--id', 'job-1.1')
    await expect.poll(async () => (await store.attempt('job-1.1'))?.step, { timeout: 60_000 }).toBe('E4c')
    expect((await edgeadm('attempt', 'run', '--id', 'job-1.1')).code).toBe(EXIT.busy)
    const { code, out } = await edgeadm('ctl', 'confirm')
    expect([code, out.trim()]).toEqual([EXIT.ok, 'job-1.1 is confirmed'])
    expect((await updater).out).toContain('prepared')
  })
})
