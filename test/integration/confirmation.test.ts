import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { edgePaths } from '../../apps/demo/src/edge.ts'
import { type Edge, Fleet, OLD_VERSION } from '../harness/fleet.ts'
import { describePlanes, uniqueName } from '../harness/index.ts'
import { run } from '../harness/program.ts'
import { until } from '../harness/until.ts'

const EDGEADM = fileURLToPath(new URL('../../apps/edgeadm/src/main.ts', import.meta.url))

describePlanes('requireConfirmation', (plane) => {
  let fleet: Fleet
  const name = uniqueName('asked')

  beforeAll(async () => {
    fleet = await Fleet.start(plane)
    await fleet.addEdges([name])
  })
  afterAll(() => fleet?.stop())

  const edgeadm = (edge: Edge, ...args: string[]) =>
    run([process.execPath, EDGEADM, ...args, '--config', edgePaths(edge.folder).config])

  it('keeps the node in service until somebody there says yes, and shows that it waits', async () => {
    const edge = fleet.edges.get(name)!
    const job = uniqueName('asking')
    await fleet.createJob(job, { version: 'v1.10.0', nodeNames: [name], requireConfirmation: true })
    await fleet.task(job, name, ({ status }) => status?.reason === 'WaitingConfirmation')
    const asks = async () => {
      const row = (await fleet.job(job)).status?.nodeStatus?.[0]
      return row?.actionFlow?.some(
        ({ action, status }) => action === 'WaitingConfirmation' && status === 'Unknown',
      )
    }
    await until('the job shows that it waits', asks, 30_000)
    expect((await fleet.node(name)).spec?.unschedulable ?? false).toBe(false)
    expect(fleet.installed(edge)).toBe(OLD_VERSION)
    expect((await edgeadm(edge, 'ctl', 'status')).stdout).toContain('waits for `edgeadm ctl confirm`')
    expect((await edgeadm(edge, 'ctl', 'confirm')).code).toBe(0)
    const { status } = await fleet.finished(job)
    expect(status, await fleet.picture(job)).toMatchObject({ phase: 'Completed', progress: '1/1' })
    expect(status?.nodeStatus?.[0]?.actionFlow?.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['Check', 'WaitingConfirmation', 'BackUp', 'Upgrade']),
    )
    expect(fleet.installed(edge)).toBe('v1.10.0')
  })
})
