import { afterAll, beforeAll, expect, it } from 'vitest'
import { uniqueName } from '../harness/index.ts'
import { describeLab } from './describe-lab.ts'
import { Lab } from './lab.ts'
import type { LabNode } from './node.ts'

const OLD = 'v1.20.0'

describeLab('a job on real hosts', (plane) => {
  let lab: Lab
  let node: LabNode

  beforeAll(async () => {
    lab = await Lab.start(plane)
    await lab.publish('v1.21.0')
    node = await lab.addNode('north', OLD)
  }, 120_000)
  afterAll(() => lab?.stop())

  it('upgrades the agent', async () => {
    const job = uniqueName('lab')
    await lab.createJob(job, { version: 'v1.21.0', nodeNames: ['north'] })
    const { status } = await lab.finished(job)
    expect(status, await lab.picture(job)).toMatchObject({ phase: 'Completed', progress: '1/1' })
    expect(await node.version()).toBe('v1.21.0')
    expect(await node.isAgentRunning()).toBe(true)
    expect(await node.starts()).toEqual([OLD, 'v1.21.0'])
  })
})
