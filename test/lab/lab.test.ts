import { afterAll, beforeAll, expect, it } from 'vitest'
import { uniqueName } from '../harness/index.ts'
import { until } from '../harness/until.ts'
import { describeLab } from './describe-lab.ts'
import { Lab } from './lab.ts'
import { ROUTER_ADDRESS } from './network.ts'
import type { LabNode } from './node.ts'
import { PASSWORD } from './registry.ts'

const OLD = 'v1.20.0'
const GOOD = 'v1.21.0'
const NEWER = 'v1.22.0'

describeLab('real hosts', (plane) => {
  let lab: Lab
  let north: LabNode
  let east: LabNode
  let south: LabNode

  beforeAll(async () => {
    lab = await Lab.start(plane)
    await lab.publish(GOOD, 'stops slowly')
    ;[north, east, south] = (await Promise.all(
      ['north', 'east', 'south'].map((name) => lab.addNode(name, OLD)),
    )) as [LabNode, LabNode, LabNode]
  }, 180_000)
  afterAll(() => lab?.stop(), 60_000)

  const run = async (nodes: readonly LabNode[], version: string, upgradeHub: object = {}) => {
    const job = uniqueName('lab')
    await lab.createJob(job, {
      version,
      nodeNames: nodes.map(({ name }) => name),
      concurrency: nodes.length,
      upgradeHub: { health: { minReadySeconds: 1 }, ...upgradeHub },
    })
    return job
  }

  /** The cloud's word for it and the host's. */
  const expectAt = async (node: LabNode, version: string) => {
    expect(await node.version()).toBe(version)
    expect(await node.isAgentRunning()).toBe(true)
    expect((await lab.node(node.name)).status?.nodeInfo?.kubeletVersion).toBe(version)
    expect((await lab.node(node.name)).spec?.unschedulable ?? false).toBe(false)
  }

  it('are behind a router that the cloud cannot pass, and out of which they come with its address', async () => {
    await north.host.must('systemd-run', '--quiet', '--unit=listener', north.program, '-e', LISTENER)
    const dial = [east.program, '-e', DIAL, north.address] as const
    await until('a neighbour gets in', async () => (await east.host.run(...dial)).stdout === 'open')
    expect((await lab.fromCloud(process.execPath, '-e', DIAL, north.address)).stdout).toBe('closed')
    const { stdout } = await lab.fromCloud('ss', '-Htn', 'state', 'established', '( sport = :10000 )')
    const peers = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).at(-1)?.split(':')[0])
    expect(new Set(peers)).toEqual(new Set([ROUTER_ADDRESS]))
    expect(peers).toHaveLength(3)
  })

  it('are upgraded from a registry with a private CA and a password, by an updater that is a unit of its own', async () => {
    const job = await run([north, east, south], GOOD)
    const { status } = await lab.finished(job)
    expect(status, await lab.picture(job)).toMatchObject({ phase: 'Completed', progress: '3/3' })
    for (const node of [north, east, south]) {
      await expectAt(node, GOOD)
      expect(await node.starts()).toEqual([OLD, GOOD])
      const log = await node.host.must('journalctl', '--no-pager', '--output=cat')
      expect(log).toMatch(/Started upgrade-hub-[0-9a-f]{16}-1\.service/)
      expect(log).not.toContain(PASSWORD)
    }
  })

  /** F22, F24: on three hosts at once, with the supervisor that starts a dead agent again a second later. */
  it('run their old agent again after a bad one, whatever is bad about it', {
    timeout: 120_000,
  }, async () => {
    const bad = [
      [north, 'v1.22.1', 'crashes at once'],
      [east, 'v1.22.2', 'dies after 5 s'],
      [south, 'v1.22.3', 'hangs'],
      [north, 'v1.22.4', 'says another version'],
      [east, 'v1.22.5', 'needs a new config'],
    ] as const
    await Promise.all(bad.map(([, version, kind]) => lab.publish(version, kind)))
    await eachInTurn(bad, async ([node, version, kind]) => {
      const before = (await node.starts()).length
      // Longer than an agent lives that dies after five seconds.
      const minReadySeconds = kind === 'dies after 5 s' ? 6 : 1
      const job = await run([node], version, { health: { minReadySeconds } })
      const { status } = await lab.finished(job)
      expect(status, `${kind}: ${await lab.picture(job)}`).toMatchObject({
        phase: 'Failure',
        progress: '1/1',
      })
      const task = await lab.task(job, node.name)
      expect(task.status, kind).toMatchObject({
        phase: 'Failure',
        outcome: 'RolledBack',
        reason: 'HealthFailed',
      })
      await expectAt(node, GOOD)
      expect((await node.starts()).slice(before), kind).toEqual([version, GOOD])
    })
  })

  /** R35. The old agent takes two seconds to stop, so that there is a stop to disturb. */
  it('finish an upgrade whose agent and edgehub are stopped, restarted and killed meanwhile', async () => {
    await lab.publish(NEWER)
    const job = await run([south], NEWER, { health: { minReadySeconds: 4 } })
    await south.reaches(job, 'E6')
    await south.host.must('systemctl', 'stop', '--no-block', 'edgecore.service')
    await south.host.must('systemctl', 'restart', 'edgehub.service')
    await south.reaches(job, 'E7', 'E8', 'E9')
    await south.host.must('systemctl', 'kill', '--signal=SIGKILL', 'edgehub.service')
    await south.reaches(job, 'E9')
    await south.host.must('systemctl', 'restart', 'edgehub.service')
    const { status } = await lab.finished(job)
    expect(status, await lab.picture(job)).toMatchObject({ phase: 'Completed', progress: '1/1' })
    await expectAt(south, NEWER)
    expect((await south.starts()).at(-1)).toBe(NEWER)
  })

  /** F03, F25 */
  it('boot back from a power cut in the middle of the swap, and finish', async () => {
    await east.dieAt('E7.file')
    const job = await run([east], NEWER)
    await east.reaches(job, 'E7')
    await east.host.powerCut()
    await east.host.boot()
    const { status } = await lab.finished(job)
    expect(status, await lab.picture(job)).toMatchObject({ phase: 'Completed', progress: '1/1' })
    await expectAt(east, NEWER)
    expect((await east.starts()).at(-1)).toBe(NEWER)
  })

  it('come back from a power cut in the download after the job was cancelled, and change nothing', async () => {
    await north.dieAt('E3.before')
    const before = (await north.starts()).length
    const job = await run([north], NEWER)
    await north.reaches(job, 'E3')
    await north.host.powerCut()
    expect(await lab.patchJob(job, { control: { cancelled: true } })).toBe(200)
    await lab.finished(job)
    await north.host.boot()
    await lab.task(job, north.name, ({ status }) => status?.edge?.answer?.value === 'done')
    expect((await lab.task(job, north.name)).status).toMatchObject({
      phase: 'Cancelled',
      outcome: 'Cancelled',
    })
    await until('the attempt is over', async () => (await north.step(job)) === 'ended')
    await expectAt(north, GOOD)
    expect((await north.starts()).slice(before)).toEqual([GOOD])
    expect(north.host.list('/etc/kubeedge/upgrade')).toEqual([])
  })
})

/** Everything of one host in order, hosts beside each other. */
async function eachInTurn<T extends readonly [LabNode, ...unknown[]]>(
  rows: readonly T[],
  work: (row: T) => Promise<void>,
): Promise<void> {
  const byHost = Map.groupBy(rows, ([node]) => node)
  await Promise.all(
    Array.from(byHost.values(), async (own) => {
      for (const row of own) await work(row)
    }),
  )
}

const LISTENER = "require('node:net').createServer().listen(7777)"
/** Says whether a connection to port 7777 of its argument opens within a second. */
const DIAL = `const socket = require('node:net').connect(7777, process.argv[1])
const end = (word) => { process.stdout.write(word); process.exit() }
socket.on('connect', () => end('open')).on('error', () => end('closed'))
setTimeout(() => end('closed'), 1000)`
