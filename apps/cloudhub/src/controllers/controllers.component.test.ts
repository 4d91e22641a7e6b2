import { type NodeUpgradeTask, nodeUpgradeJobCrd } from '@upgrade-hub/api'
import { systemClock } from '@upgrade-hub/core'
import { CRDS, EVENTS, LEASES, NODES } from '@upgrade-hub/kube'
import { statusOf } from '@upgrade-hub/rollout'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JOBS, TASKS } from '../kube-api.ts'
import type { Write } from './testing/faulty-client.ts'
import { Stage } from './testing/stage.ts'

interface Root {
  properties: Record<string, unknown>
  'x-kubernetes-validations'?: unknown
}

let stage: Stage
beforeAll(async () => {
  stage = await Stage.open()
})
afterAll(() => stage.close())
beforeEach(async () => {
  await stage.stopLeading()
  stage.fateOf = () => 'done'
  stage.written.length = 0
  stage.edges.scripts.clear()
  stage.edges.swaps.length = 0
})

const phases = async (job: string) =>
  Object.fromEntries(
    (await stage.tasks(job)).map(({ spec, status }) => [spec.nodeName, `${status?.phase} ${status?.reason}`]),
  )

async function isOpen(node: string): Promise<boolean> {
  const { spec, metadata } = await stage.node(node)
  const marks = [
    metadata.annotations?.['upgradehub.io/hold'],
    metadata.labels?.['nodeupgradejob.operations.kubeedge.io/status'],
  ]
  return !spec?.unschedulable && marks.every((mark) => mark === undefined)
}

function isTake({ plural, body }: Write): boolean {
  const { metadata } = body as { metadata?: { annotations?: Record<string, string | null> } }
  return plural === 'nodes' && typeof metadata?.annotations?.['upgradehub.io/hold'] === 'string'
}

function isPermission({ body }: Write): boolean {
  return (body as { status?: NodeUpgradeTask['status'] }).status?.intent?.verb === 'proceed'
}

describe('a job', () => {
  it('runs to its end with eight writes a node, and everybody is as open as before', async () => {
    const nodes = await stage.addNodes(6)
    const [first = ''] = nodes
    await stage.client.patch(NODES, first, { spec: { unschedulable: true } })
    stage.edges.writes = 0
    stage.lead()
    const job = await stage.finished(await stage.createJob(nodes, { concurrency: 2 }))
    expect(job.status).toMatchObject({
      phase: 'Completed',
      progress: '6/6',
      summary: { successful: 6 },
      releasing: [],
    })
    expect(stage.edges.swaps).toHaveLength(6)
    expect((await stage.node(first)).spec?.unschedulable).toBe(true)
    for (const node of nodes.slice(1)) expect(await isOpen(node)).toBe(true)
    const ofNodes = stage.written.filter(({ plural }) => plural !== 'nodeupgradejobs' && plural !== 'leases')
    expect((ofNodes.length + stage.edges.writes) / 6).toBe(8)
  })

  it('gives each node that cannot be upgraded its row, and touches none of them', async () => {
    const [good = '', refusing = ''] = await stage.addNodes(2)
    const [plain = ''] = await stage.addNodes(1)
    await stage.client.patch(NODES, plain, { metadata: { labels: { 'node-role.kubernetes.io/edge': null } } })
    stage.edges.scripts.set(refusing, { prepare: 'PolicyRefused' })
    stage.lead()
    const name = await stage.createJob([good, refusing, plain, 'nowhere', good], { failureTolerate: '1' })
    const { status } = await stage.finished(name)
    expect(status).toMatchObject({ phase: 'Completed', summary: { total: 4, successful: 1, failed: 3 } })
    const rows = Object.fromEntries((status?.nodeStatus ?? []).map((row) => [row.nodeName, row.reason]))
    expect(rows).toMatchObject({
      [plain]: 'the node is not an edge node',
      nowhere: 'failed to get node, err: nodes "nowhere" not found',
    })
    expect(stage.written.filter(isTake).map((write) => write.name)).toEqual([good])
  })

  it('stops at the failure that is too much, and opens what it closed', async () => {
    const nodes = await stage.addNodes(4)
    for (const node of nodes) stage.edges.scripts.set(node, { proceed: 'RolledBack' })
    stage.lead()
    const name = await stage.createJob(nodes, { concurrency: 1, failureTolerate: '0.2' })
    const { status } = await stage.finished(name)
    expect(status).toMatchObject({
      phase: 'Failure',
      reason: expect.stringContaining('exceeds the failure tolerance threshold'),
    })
    expect(Object.values(await phases(name)).toSorted()).toEqual([
      'Failure HealthFailed',
      'Skipped Stopped',
      'Skipped Stopped',
      'Skipped Stopped',
    ])
    for (const node of nodes) expect(await isOpen(node)).toBe(true)
  })

  it('says what happened in events', async () => {
    const nodes = await stage.addNodes(1)
    stage.lead()
    const name = await stage.createJob(nodes)
    const { metadata } = await stage.finished(name)
    const words = await stage.until('the events', async () => {
      const { items } = await stage.client.list(EVENTS, { namespace: 'default' })
      const ours = items.filter((event) => event.regarding.uid === metadata.uid).map((event) => event.reason)
      return ours.includes('Completed') && ours
    })
    expect(words.toSorted()).toEqual(['Accepted', 'Completed', 'NodeUpgraded'])
  })

  it('is cancelled: who waits ends at once, who runs is asked, nobody stays closed', async () => {
    const [running = '', waiting = ''] = await stage.addNodes(2)
    stage.edges.scripts.set(running, { proceed: 'silence' })
    stage.lead()
    const name = await stage.createJob([running, waiting], { concurrency: 1 })
    await stage.until('the permission', async () => (await phases(name))[running]?.startsWith('InProgress'))
    await stage.client.patch(JOBS, name, { control: { cancelled: true } })
    const { status } = await stage.finished(name)
    expect(status?.conditions?.at(-1)).toMatchObject({ type: 'Finished', reason: 'Cancelled' })
    expect(await phases(name)).toEqual({ [running]: 'Cancelled Cancelled', [waiting]: 'Cancelled Cancelled' })
    expect(await isOpen(running)).toBe(true)
  })

  it('waits while it is paused, and goes on', async () => {
    const nodes = await stage.addNodes(1)
    const name = await stage.createJob(nodes)
    await stage.client.patch(JOBS, name, { control: { paused: true } })
    stage.lead()
    await stage.until('the condition', async () =>
      (await stage.job(name)).status?.conditions?.some((c) => c.type === 'Paused' && c.status === 'True'),
    )
    expect(statusOf((await stage.tasks(name))[0] as NodeUpgradeTask).intent).toBeUndefined()
    await stage.client.patch(JOBS, name, { control: { paused: false } })
    expect((await stage.finished(name)).status?.phase).toBe('Completed')
  })

  it.each(['Background', 'Foreground'] as const)(
    'that is deleted (%s) takes its tasks along and opens its nodes (R16)',
    async (propagationPolicy) => {
      const [running = '', waiting = ''] = await stage.addNodes(2)
      stage.edges.scripts.set(running, { proceed: 'silence' })
      stage.lead()
      const name = await stage.createJob([running, waiting], { concurrency: 1 })
      await stage.until('the permission', async () => (await phases(name))[running]?.startsWith('InProgress'))
      await stage.client.delete(JOBS, name, { propagationPolicy })
      await stage.until('the end of the job', () => stage.isGone(name))
      await stage.until('the end of its tasks', async () => (await stage.tasks(name)).length === 0)
      expect(await isOpen(running)).toBe(true)
    },
  )

  it('of somebody else’s past is never run, but can be deleted', async () => {
    const nodes = await stage.addNodes(1)
    const name = await stage.createJob(nodes)
    const nodeStatus = [{ nodeName: nodes[0], phase: 'Successful' }]
    await stage.client.patch(
      JOBS,
      name,
      { status: { phase: 'Completed', nodeStatus } },
      { subresource: 'status' },
    )
    stage.lead()
    await stage.until('the word', async () =>
      (await stage.job(name)).status?.conditions?.some((c) => c.reason === 'NotAdopted'),
    )
    expect(await stage.job(name)).toMatchObject({ status: { phase: 'Completed', nodeStatus } })
    expect(await stage.tasks(name)).toEqual([])
    await stage.client.delete(JOBS, name)
    await stage.until('its end', () => stage.isGone(name))
  })
})

describe('a hub whose writes go wrong', () => {
  it('reads back after every unknown outcome and does nothing twice (F19)', async () => {
    const nodes = await stage.addNodes(3)
    const lost = new Set<string>()
    stage.fateOf = ({ plural, name, body }) => {
      const key = `${plural} ${name} ${JSON.stringify(body).slice(0, 400)}`
      if (plural === 'leases' || lost.has(key)) return 'done'
      lost.add(key)
      return 'lost'
    }
    stage.lead()
    const name = await stage.createJob(nodes)
    expect((await stage.finished(name)).status).toMatchObject({
      phase: 'Completed',
      summary: { total: 3, successful: 3 },
    })
    expect(stage.written.filter(isTake)).toHaveLength(3)
    expect(new Set(stage.edges.swaps).size).toBe(stage.edges.swaps.length)
    for (const node of nodes)
      expect((await stage.node(node)).metadata.annotations?.['upgradehub.io/epoch']).toBe('1')
    for (const node of nodes) expect(await isOpen(node)).toBe(true)
  })

  it('gets through when most of them meet something newer (F18)', async () => {
    const nodes = await stage.addNodes(2)
    let calls = 0
    stage.fateOf = ({ verb, plural }) =>
      verb === 'patch' && plural !== 'leases' && ++calls % 5 !== 0 ? 'conflict' : 'done'
    stage.lead()
    expect((await stage.finished(await stage.createJob(nodes))).status?.phase).toBe('Completed')
    expect(calls).toBeLessThan(250)
  })

  it('gets through an API server that is away half of the time', async () => {
    const nodes = await stage.addNodes(2)
    let calls = 0
    stage.fateOf = ({ plural }) => (plural !== 'leases' && ++calls % 2 === 0 ? 'away' : 'done')
    stage.lead()
    expect((await stage.finished(await stage.createJob(nodes))).status?.phase).toBe('Completed')
  })
})

describe('a new leader', () => {
  it('goes on where each step was left, and permits nothing twice (F02, F13)', async () => {
    const nodes = await stage.addNodes(2)
    const name = await stage.createJob(nodes, { concurrency: 1 })
    // Every process stores one write and no more.
    for (let life = 0; life < 60; life++) {
      let left = 1
      stage.fateOf = ({ plural }) => (plural === 'leases' || left-- > 0 ? 'done' : 'away')
      stage.lead()
      await stage.until(
        'a write or the end',
        async () => left < 0 || (await stage.job(name)).status?.completionTime,
      )
      await stage.stopLeading()
      if ((await stage.job(name)).status?.completionTime) break
    }
    expect((await stage.job(name)).status).toMatchObject({
      phase: 'Completed',
      summary: { total: 2, successful: 2 },
    })
    expect(stage.edges.swaps).toHaveLength(2)
    // A take whose answer a dying process no longer heard is stored all the same: the node itself counts them.
    for (const node of nodes) {
      expect((await stage.node(node)).metadata.annotations?.['upgradehub.io/epoch']).toBe('1')
      expect(await isOpen(node)).toBe(true)
    }
  }, 120_000)

  it('waits before it plans when the one before it died, so that no create comes after the plan', async () => {
    const nodes = await stage.addNodes(1)
    const [lease] = (await stage.client.list(LEASES, { namespace: 'upgrade-hub' })).items
    const spec = { holderIdentity: 'dead', leaseDurationSeconds: 1 }
    await stage.client.patch(LEASES, lease?.metadata.name ?? '', { spec }, { namespace: 'upgrade-hub' })
    stage.lead(1_500)
    const startedAt = systemClock.monotonic()
    await stage.finished(await stage.createJob(nodes))
    expect(systemClock.monotonic() - startedAt).toBeGreaterThan(2_400)
  })

  it('plans at once when the one before it ended in order', async () => {
    const nodes = await stage.addNodes(1)
    stage.lead(60_000)
    expect((await stage.finished(await stage.createJob(nodes))).status?.phase).toBe('Completed')
  })

  it('lets go of nodes whose task is gone or over', async () => {
    const [orphan = '', broken = ''] = await stage.addNodes(2)
    const hold = { task: 'gone', taskUID: 'u', epoch: 1, previousUnschedulable: false, takenAt: '' }
    const mark = (text: string) => ({
      metadata: { annotations: { 'upgradehub.io/hold': text } },
      spec: { unschedulable: true },
    })
    const asHub = { fieldManager: 'upgradehub' }
    await stage.client.patch(NODES, orphan, mark(JSON.stringify(hold)), asHub)
    await stage.client.patch(NODES, broken, mark('no json'), asHub)
    stage.lead()
    await stage.until('both open', async () => (await isOpen(orphan)) && (await isOpen(broken)))
    expect((await stage.node(orphan)).spec?.unschedulable).toBeUndefined()
  })

  it('frees tasks whose job was torn out', async () => {
    const nodes = await stage.addNodes(1)
    stage.edges.scripts.set(nodes[0] ?? '', { prepare: 'silence' })
    stage.lead()
    const name = await stage.createJob(nodes)
    await stage.until('the task', async () => (await stage.tasks(name)).length === 1)
    await stage.stopLeading()
    await stage.client.patch(JOBS, name, { metadata: { finalizers: [] } })
    await stage.client.delete(JOBS, name)
    stage.lead()
    await stage.until('its end', async () => (await stage.tasks(name)).length === 0)
    expect(await stage.isGone(name)).toBe(true)
  })

  it.each([
    ['and waits for', false],
    ['but has not yet told to begin', true],
  ])('frees a node that an earlier job of the same name has taken %s', async (_, isCutOff) => {
    const nodes = await stage.addNodes(1)
    const [node = ''] = nodes
    stage.edges.scripts.set(node, { proceed: 'silence' })
    stage.fateOf = (write) => (isCutOff && isPermission(write) ? 'away' : 'done')
    stage.lead()
    const name = await stage.createJob(nodes)
    await stage.until('the take', async () => !(await isOpen(node)))
    if (!isCutOff)
      await stage.until('the permission', async () => (await phases(name))[node]?.startsWith('InProgress'))
    await stage.stopLeading()
    stage.fateOf = () => 'done'
    const { spec } = await stage.job(name)
    await stage.client.patch(JOBS, name, { metadata: { finalizers: [] } })
    await stage.client.delete(JOBS, name)
    stage.edges.scripts.clear()
    await stage.client.create(JOBS, {
      apiVersion: 'operations.kubeedge.io/v1alpha2',
      kind: 'NodeUpgradeJob',
      metadata: { name },
      ...(spec ? { spec } : {}),
    })
    stage.lead()
    expect((await stage.finished(name)).status?.phase).toBe('Completed')
    expect(await isOpen(node)).toBe(true)
    expect(await stage.tasks(name)).toHaveLength(1)
  })
})

describe('a schema that is not ours', () => {
  it('stops every write of jobs until it is ours again', async () => {
    const nodes = await stage.addNodes(1)
    const original = await stage.client.get(CRDS, nodeUpgradeJobCrd.metadata.name)
    const spec = structuredClone(original.spec) as { versions: { schema: { openAPIV3Schema: Root } }[] }
    for (const { schema } of spec.versions) {
      delete schema.openAPIV3Schema.properties['control']
      delete schema.openAPIV3Schema['x-kubernetes-validations']
    }
    stage.lead()
    const before = await stage.createJob(nodes)
    await stage.finished(before)
    await stage.client.patch(CRDS, original.metadata.name, { spec })
    const [other = ''] = await stage.addNodes(1)
    await systemClock.sleep(300)
    stage.written.length = 0
    const name = await stage.createJob([other])
    await systemClock.sleep(500)
    expect(stage.written.filter(({ plural }) => plural === 'nodeupgradejobs')).toEqual([])
    await stage.client.patch(CRDS, original.metadata.name, { spec: original.spec })
    expect((await stage.finished(name)).status?.phase).toBe('Completed')
    expect((await stage.client.list(TASKS, { fieldSelector: `spec.jobName=${name}` })).items).toHaveLength(1)
  })
})
