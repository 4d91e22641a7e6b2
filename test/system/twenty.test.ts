import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Fleet } from '../harness/fleet.ts'
import { describePlanes, uniqueName } from '../harness/index.ts'

const EDGES = 20
const KILLS = 10
const LONGEST_LIFE_MS = 5_000
const VERSION = 'v1.10.0'

/** A small generator, so that a run can be repeated from its printed seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000)

describePlanes('twenty edges, five at a time', (plane) => {
  let fleet: Fleet
  const names = Array.from({ length: EDGES }, (_, i) => uniqueName(`twenty-${i}`))

  beforeAll(async () => {
    fleet = await Fleet.start(plane)
    await fleet.addEdges(names)
  }, 240_000)
  afterAll(() => fleet?.stop())

  it(`each end once though the hub is killed ten times (KILL_SEED=${seed})`, {
    timeout: 420_000,
  }, async () => {
    const random = randomFrom(seed)
    const job = uniqueName('twenty')
    await fleet.createJob(job, { version: VERSION, nodeNames: names, concurrency: 5, timeoutSeconds: 240 })
    for (let kill = 0; kill < KILLS; kill++) {
      // The moment of a kill is what is random here; nothing waits for the hub to be at any place.
      await delay(random() * LONGEST_LIFE_MS)
      await fleet.killHub()
      await fleet.startHub()
    }
    const { status } = await fleet.finished(job, 300_000)
    const picture = await fleet.picture(job)
    expect(status, picture).toMatchObject({ phase: 'Completed', progress: `${EDGES}/${EDGES}` })
    const tasks = await fleet.tasks(job)
    expect(
      tasks.map(({ status: task }) => task?.phase),
      picture,
    ).toEqual(Array.from(names, () => 'Successful'))
    for (const edge of fleet.edges.values()) {
      expect(fleet.installed(edge), picture).toBe(VERSION)
      expect(fleet.starts(edge)[VERSION], picture).toBe(1)
      const node = await fleet.node(edge.name)
      expect(node.spec?.unschedulable ?? false, edge.name).toBe(false)
      expect(node.metadata.annotations).toMatchObject({ 'upgradehub.io/epoch': '1' })
      expect(node.metadata.annotations).not.toHaveProperty('upgradehub.io/hold')
    }
    expect(fleet.hubLog).not.toMatch(/KUBE_FORBIDDEN|"status":403/)
  })
})
