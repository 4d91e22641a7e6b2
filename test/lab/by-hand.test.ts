import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLab } from './describe-lab.ts'
import { Lab } from './lab.ts'
import type { LabNode } from './node.ts'

const OLD = 'v1.20.0'
const NEW = 'v1.21.0'
const BAD = 'v1.22.0'
const READY = ['--min-ready-seconds', '1', '--force'] as const

describeLab('a host without a hub', (plane) => {
  let lab: Lab
  let node: LabNode
  beforeAll(async () => {
    lab = await Lab.start(plane)
    await lab.publish(NEW)
    await lab.publish(BAD, 'crashes at once')
    node = await lab.addHost('alone', OLD)
  }, 180_000)
  afterAll(() => lab?.stop(), 60_000)

  const edgeadm = (...args: readonly string[]) => node.host.run('/usr/local/bin/edgeadm', ...args)
  const upgrade = (version: string) =>
    edgeadm('upgrade', 'edge', '--toVersion', version, '--image', lab.image, ...READY)

  it('is upgraded, backed up and rolled back by hand, and says what was done', {
    timeout: 120_000,
  }, async () => {
    const before = await edgeadm('status')
    expect(before).toMatchObject({ code: 0 })
    expect(before.stdout).toContain(`edgecore ${OLD} running`)

    const upgraded = await upgrade(NEW)
    expect(upgraded, upgraded.output).toMatchObject({ code: 0 })
    expect(upgraded.stdout).toContain(`${OLD} -> ${NEW}`)
    expect(await node.version()).toBe(NEW)

    const backup = await edgeadm('backup', 'edge')
    expect(backup, backup.output).toMatchObject({ code: 0 })
    expect(backup.stdout).toContain(NEW)

    const back = await edgeadm('rollback', 'edge', '--historical-version', OLD, ...READY)
    expect(back, back.output).toMatchObject({ code: 0 })
    expect(back.stdout).toContain(OLD)
    expect(await node.version()).toBe(OLD)
    expect(await node.isAgentRunning()).toBe(true)
    expect(await node.starts()).toEqual([OLD, NEW, OLD])
  })

  it('has its old agent back after a bad version, by another exit code', { timeout: 60_000 }, async () => {
    const failed = await upgrade(BAD)
    expect(failed, failed.output).toMatchObject({ code: 3 })
    expect(failed.stdout).toContain('RolledBack')
    expect((await edgeadm('status')).stdout).toContain(`edgecore ${OLD} running`)
  })

  /** F03: without a hub there is no boot unit, so a person says that it shall go on. */
  it('goes on with what a power cut has interrupted when it is told to', { timeout: 120_000 }, async () => {
    const args = ['upgrade', 'edge', '--toVersion', NEW, '--image', lab.image, ...READY]
    await node.host.run('env', 'UPGRADE_HUB_FAULT=E7.file:kill', '/usr/local/bin/edgeadm', ...args)
    await node.host.powerCut()
    await node.host.boot()
    const resumed = await edgeadm('attempt', 'resume')
    expect(resumed, resumed.output).toMatchObject({ code: 0 })
    expect(await node.version()).toBe(NEW)
    expect(await node.isAgentRunning()).toBe(true)
  })
})
