import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Fleet } from '../harness/fleet.ts'
import { describePlanes, uniqueName } from '../harness/index.ts'

type At = (task: NodeUpgradeTask) => boolean
const preparing: At = ({ status }) => status?.stage === 'Prepare'
const proceeding: At = ({ status }) => status?.stage === 'Proceed'
const answered: At = ({ status }) => (status?.edge?.results?.length ?? 0) > 0

/** Where a process is killed, in the order of an attempt, and the version that each job brings. */
const PLACES = [
  ['while it prepares', preparing, 'v1.10.0'],
  ['while it is held', proceeding, 'v1.16.0'],
  ['when the result is there', answered, 'v1.22.0'],
] as const

describePlanes('a job survives', (plane) => {
  let fleet: Fleet
  const node = uniqueName('tough')

  beforeAll(async () => {
    fleet = await Fleet.start(plane)
    await fleet.addEdges([node])
  })
  afterAll(() => fleet?.stop())

  const expectUpgraded = async (name: string, version: string) => {
    const { status } = await fleet.finished(name, 150_000)
    expect(status, await fleet.picture(name)).toMatchObject({ phase: 'Completed', progress: '1/1' })
    const edge = fleet.edges.get(node)!
    expect(fleet.installed(edge)).toBe(version)
    expect(fleet.starts(edge)[version]).toBe(1)
    const after = await fleet.node(node)
    expect(after.spec?.unschedulable ?? false).toBe(false)
    expect(after.metadata.annotations).not.toHaveProperty('upgradehub.io/hold')
  }

  it.each(PLACES)(
    'kill -9 of hub and edgehub together %s',
    { timeout: 240_000 },
    async (_place, at, version) => {
      const edge = fleet.edges.get(node)!
      const name = uniqueName('killed')
      await fleet.createJob(name, { version, nodeNames: [node], timeoutSeconds: 120 })
      await fleet.task(name, node, at)
      await Promise.all([fleet.killHub(), fleet.killEdgehub(edge)])
      await fleet.startHub()
      fleet.startEdgehub(edge)
      await expectUpgraded(name, version)
    },
  )

  it('an edge that comes only after the job was made', { timeout: 240_000 }, async () => {
    const edge = fleet.edges.get(node)!
    await fleet.killEdgehub(edge)
    const name = uniqueName('late')
    const upgradeHub = { health: { minReadySeconds: 1 }, offline: { policy: 'Queue' } }
    await fleet.createJob(name, { version: 'v1.23.0', nodeNames: [node], upgradeHub, timeoutSeconds: 120 })
    await fleet.task(name, node)
    fleet.startEdgehub(edge)
    await expectUpgraded(name, 'v1.23.0')
  })
})
