import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CRDS, type NodeUpgradeJob } from '@upgrade-hub/api'
import { type Crd, type JsonObject, judge } from '@upgrade-hub/embedded/schema'
import { conditionOf } from '@upgrade-hub/rollout'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { simulate } from './scenario.ts'

const text = readFileSync(fileURLToPath(new URL('../../docs/jobs.md', import.meta.url)), 'utf8')
const examples = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(
  ([, yaml = '']) => parse(yaml) as NodeUpgradeJob,
)
const CALM = { faults: false, crashes: false, edges: false, people: false }
const NODES = 8

/** The job of an example on eight nodes, in calm weather. */
function runExample({ spec }: NodeUpgradeJob, fates: Parameters<typeof simulate>[2]) {
  const { labelSelector: _, upgradeHub: { allNodes: __, ...upgradeHub } = {}, ...rest } = spec ?? {}
  const nodeNames = Array.from({ length: NODES }, (_, at) => `node-${at}`)
  return simulate(1, CALM, { ...rest, nodeNames, upgradeHub, ...fates })
}

describe('the examples of docs/jobs.md', () => {
  it('are there', () => {
    expect(examples.length).toBeGreaterThan(5)
    expect(new Set(examples.map(({ metadata }) => metadata.name)).size).toBe(examples.length)
  })

  it.each(examples.map((job) => [job.metadata.name, job] as const))('%s is accepted', (_, job) => {
    const crd = CRDS[0] as unknown as Crd
    expect(judge({ crd, version: 'v1alpha2', object: job as unknown as JsonObject })).toEqual([])
  })

  it.each(examples.map((job) => [job.metadata.name, job] as const))(
    '%s upgrades every node',
    (_, example) => {
      const run = runExample(example, { fates: Array<'fine'>(NODES).fill('fine') })
      expect(run.world.broken).toEqual([])
      expect(run.job()?.status).toMatchObject({ phase: 'Completed', progress: `${NODES}/${NODES}` })
    },
  )

  it('careful goes back when too many fail', () => {
    const careful = examples.find(({ metadata }) => metadata.name === 'careful')
    const fates = [...Array<'fine'>(NODES - 1).fill('fine'), 'healthFailed' as const]
    const job = careful && runExample(careful, { fates }).job()
    expect(job && conditionOf(job, 'Finished')?.reason).toBe('RolledBack')
  })
})
