import { afterAll, beforeAll, expect, it } from 'vitest'
import { Fleet, OLD_VERSION } from '../harness/fleet.ts'
import { describePlanes, uniqueName } from '../harness/index.ts'

describePlanes('a job on real edges', (plane) => {
  let fleet: Fleet
  const [good, other, legacy] = [uniqueName('good'), uniqueName('other'), uniqueName('legacy')]

  beforeAll(async () => {
    fleet = await Fleet.start(plane)
    await fleet.addEdges([good, other])
    await fleet.addEdges([legacy], 'modules:\n  legacyDeviceTwin: {}\n')
  })
  afterAll(() => fleet?.stop())

  it('upgrades each node once, proves it, and leaves every node as open as it was', async () => {
    const job = uniqueName('job')
    await fleet.createJob(job, { version: 'v1.10.0', nodeNames: [good, other], concurrency: 2 })
    const { status } = await fleet.finished(job)
    expect(status, await fleet.picture(job)).toMatchObject({
      phase: 'Completed',
      progress: '2/2',
      state: 'completed',
    })
    for (const name of [good, other]) {
      const edge = fleet.edges.get(name)!
      expect(fleet.installed(edge)).toBe('v1.10.0')
      expect(fleet.starts(edge)).toEqual({ [OLD_VERSION]: 1, 'v1.10.0': 1 })
      const node = await fleet.node(name)
      expect(node.spec?.unschedulable ?? false).toBe(false)
      expect(node.metadata.annotations).toMatchObject({
        'nodeupgradejob.operations.kubeedge.io/history': `${OLD_VERSION}->v1.10.0`,
      })
      expect(node.metadata.annotations).not.toHaveProperty('upgradehub.io/hold')
    }
  })
})
