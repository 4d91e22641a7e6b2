import type { JobControl, NodeUpgradeJob, NodeUpgradeJobSpec, NodeUpgradeTask } from '@upgrade-hub/api'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { connect, type KubeClient } from '@upgrade-hub/kube'
import type { EdgeBehaviour, SimulatedEdge } from '@upgrade-hub/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFleet } from '../bench/job/fleet.ts'
import { call, describePlanes, type RunningHub, startHub, uniqueName, until } from '../harness/index.ts'

const JOBS = '/apis/operations.kubeedge.io/v1alpha2/nodeupgradejobs'
const TASKS = '/apis/upgradehub.io/v1alpha1/nodeupgradetasks'
const FINE: EdgeBehaviour = { prepareMs: 20, upgradeMs: 60, outcome: 'Succeeded' }
const SICK: EdgeBehaviour = { ...FINE, outcome: 'RolledBack' }

/** What an operator can say about the course of a job, each word with what it does to real objects. */
describePlanes('a job goes as it is told', (plane) => {
  let hub: RunningHub
  let admin: KubeClient
  const stop = new AbortController()

  beforeAll(async () => {
    hub = await startHub(plane)
    admin = await connect({ kubeconfig: plane.kubeconfigPath, clock: systemClock, log: silentLogger })
  })
  afterAll(async () => {
    stop.abort(new Error('the test is over'))
    await hub?.program.stop()
    await admin?.close()
  })

  const fleet = (size: number, behaviour = FINE): Promise<SimulatedEdge[]> =>
    startFleet({
      admin,
      websocketUrl: `wss://localhost:${hub.ports.websocket}`,
      size,
      label: uniqueName('edge'),
      fromVersion: 'v1.11.0',
      behaviour,
      signal: stop.signal,
    })
  const namesOf = (edges: readonly SimulatedEdge[]) => edges.map((edge) => edge.nodeName)

  async function create(
    nodeNames: readonly string[],
    spec: Partial<NodeUpgradeJobSpec>,
    control?: JobControl,
  ): Promise<string> {
    const name = uniqueName('job')
    const body = {
      apiVersion: 'operations.kubeedge.io/v1alpha2',
      kind: 'NodeUpgradeJob',
      metadata: { name },
      spec: { version: 'v1.12.0', failureTolerate: '1', concurrency: 10, nodeNames, ...spec },
      ...(control ? { control } : {}),
    }
    const answer = await call(plane, 'POST', JOBS, { body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return name
  }
  const jobOf = async (name: string) => (await call(plane, 'GET', `${JOBS}/${name}`)).body as NodeUpgradeJob
  const tasksOf = async (name: string) =>
    (
      (await call(plane, 'GET', `${TASKS}?fieldSelector=spec.jobName%3D${name}`)).body as {
        items: NodeUpgradeTask[]
      }
    ).items
  const steer = async (name: string, control: JobControl) => {
    const contentType = 'application/merge-patch+json'
    expect((await call(plane, 'PATCH', `${JOBS}/${name}`, { body: { control }, contentType })).status).toBe(
      200,
    )
  }
  const condition = ({ status }: NodeUpgradeJob, type: string) =>
    status?.conditions?.find((one) => one.type === type)
  const reaches = (name: string, what: string, is: (job: NodeUpgradeJob) => boolean) =>
    until(`${name} ${what}`, async () => {
      const job = await jobOf(name)
      return is(job) ? job : undefined
    })
  const says = (name: string, reason: string) =>
    reaches(name, `says ${reason}`, (job) => condition(job, 'Progressing')?.reason === reason)
  const ends = (name: string) => reaches(name, 'ends', (job) => condition(job, 'Finished')?.status === 'True')

  it('takes no more nodes at once than maxConcurrent says, as a percentage', async () => {
    const names = namesOf(await fleet(4))
    const name = await create(names, { upgradeHub: { maxConcurrent: '25%', prepareAhead: '100%' } })
    let most = 0
    await reaches(name, 'ends', (job) => {
      most = Math.max(most, job.status?.summary?.inProgress ?? 0)
      return condition(job, 'Finished')?.status === 'True'
    })
    expect(most).toBeLessThanOrEqual(1)
    expect((await jobOf(name)).status).toMatchObject({ phase: 'Completed', progress: '4/4' })
  })

  it('takes none while others are down already (maxUnavailable), and goes on when they are back', async () => {
    const names = namesOf(await fleet(2))
    const cordon = (unschedulable: boolean | null) =>
      call(plane, 'PATCH', `/api/v1/nodes/${names[0]}`, {
        body: { spec: { unschedulable } },
        contentType: 'application/merge-patch+json',
      })
    await cordon(true)
    const name = await create(names, { upgradeHub: { maxUnavailable: 1 } })
    await says(name, 'TooManyUnavailable')
    await cordon(null)
    expect((await ends(name)).status?.phase).toBe('Completed')
  })

  it('tries a failed node again by itself, after a pause', async () => {
    const names = namesOf(
      await fleet(1, { ...FINE, outcome: (attempt) => (attempt === 1 ? 'RolledBack' : 'Succeeded') }),
    )
    const name = await create(names, { upgradeHub: { retry: { limit: 1, backoffSeconds: 1 } } })
    expect((await ends(name)).status?.phase).toBe('Completed')
    const [task] = await tasksOf(name)
    expect(task?.status?.attempts?.map(({ outcome }) => outcome)).toEqual(['RolledBack', 'Succeeded'])
  })

  it('stops at a breach, and begins no further node', async () => {
    const names = namesOf(await fleet(3, SICK))
    const name = await create(names, { failureTolerate: '0.1', concurrency: 1 })
    const { status } = await ends(name)
    expect(status).toMatchObject({ phase: 'Failure', summary: { failed: 1, skipped: 2 } })
    expect(status?.conditions?.find(({ type }) => type === 'Failed')?.reason).toBe('ThresholdBreached')
  })

  it('waits at a breach for a person who raises control.retry, or control.failureTolerate (onFailure: Pause)', async () => {
    const names = namesOf(
      await fleet(2, { ...FINE, outcome: (attempt) => (attempt < 3 ? 'RolledBack' : 'Succeeded') }),
    )
    const name = await create(names, {
      failureTolerate: '0.1',
      concurrency: 1,
      upgradeHub: { onFailure: 'Pause' },
    })
    expect(condition(await says(name, 'ThresholdBreached'), 'Paused')).toMatchObject({
      status: 'True',
      reason: 'ThresholdBreached',
    })
    await steer(name, { retry: 1 })
    const retried = async () =>
      (await tasksOf(name)).some(({ status }) => status?.attempt === 2 && status.phase === 'Failure')
    await until('the second attempt fails too', retried)
    await says(name, 'ThresholdBreached')
    await steer(name, { retry: 3, failureTolerate: '1' })
    expect((await ends(name)).status).toMatchObject({ phase: 'Completed', summary: { successful: 2 } })
  })

  it('goes wave by wave: a canary, its soak, and an approval that is recorded', async () => {
    const names = namesOf(await fleet(3))
    const name = await create(names, {
      upgradeHub: {
        waves: [
          { name: 'canary', size: '1%', soakSeconds: 1 },
          { name: 'more', size: 1, approval: 'Required' },
        ],
      },
    })
    const waiting = await says(name, 'WaitingForApproval')
    expect(waiting.status).toMatchObject({
      currentWave: 'more',
      summary: { successful: 1 },
      waves: [{ state: 'Done' }, { state: 'WaitingForApproval' }, { state: 'Pending' }],
    })
    await steer(name, { approvals: [{ wave: 'more', by: plane.users.admin.user, reason: 'looks good' }] })
    const { status } = await ends(name)
    expect(status?.waves?.map(({ state, size }) => [state, size])).toEqual([
      ['Done', 1],
      ['Done', 1],
      ['Done', 1],
    ])
    expect(status?.waves?.[1]).toMatchObject({ approvedBy: plane.users.admin.user })
    const [canary, more] = status?.waves ?? []
    const soaked = Date.parse(more?.startTime ?? '') - Date.parse(canary?.completionTime ?? '')
    expect(soaked).toBeGreaterThanOrEqual(1_000)
  })

  it('begins nothing outside its window, and refuses one that never opens', async () => {
    const names = namesOf(await fleet(1))
    const day = (ahead: number) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10)
    const shut = await create(names, {
      upgradeHub: { window: { blackouts: [{ from: day(-1), to: day(1) }] } },
    })
    await says(shut, 'WindowClosed')
    expect((await tasksOf(shut)).every(({ status }) => status?.stage === undefined)).toBe(true)
    await steer(shut, { cancelled: true })
    await ends(shut)
    const never = await create(names, {
      upgradeHub: { window: { blackouts: [{ from: '2020-01-01', to: '2199-01-01' }] } },
    })
    await reaches(
      never,
      'is not accepted',
      (job) => condition(job, 'Accepted')?.reason === 'WindowNeverOpens',
    )
    const open = await create(names, {
      upgradeHub: { window: { slots: [{ start: '00:00', durationMinutes: 1_440 }] } },
    })
    expect((await ends(open)).status?.phase).toBe('Completed')
  })

  it('goes by the clock of each node when the window is NodeLocal', async () => {
    const hour = (ahead: number) => new Date(Date.now() + ahead * 3_600_000).toISOString().slice(11, 14)
    const noon = { timeZone: 'NodeLocal', slots: [{ start: `${hour(-1)}00`, durationMinutes: 180 }] }
    const [here = ''] = namesOf(await fleet(1))
    const [far = ''] = namesOf(await fleet(1, { ...FINE, timeZone: 'Pacific/Auckland' }))
    const name = await create([far, here], { upgradeHub: { window: noon } })
    await says(name, 'WindowClosed')
    const tasks = await tasksOf(name)
    expect(tasks.find(({ spec }) => spec.nodeName === here)?.status?.phase).toBe('Successful')
    expect(tasks.find(({ spec }) => spec.nodeName === far)?.status).toMatchObject({
      phase: 'Pending',
      edge: { answer: { value: 'prepared', timeZone: 'Pacific/Auckland' } },
    })
    await steer(name, { cancelled: true })
    await ends(name)
  })

  it('brings the upgraded nodes back after a breach (onFailure: RollBack), and says so', async () => {
    const good = await fleet(2)
    const sick = await fleet(1, SICK)
    const spec = { failureTolerate: '0.1', concurrency: 1, upgradeHub: { onFailure: 'RollBack' as const } }
    const name = await create(namesOf([...good, ...sick]), spec)
    const { status } = await ends(name)
    expect(status).toMatchObject({
      phase: 'Failure',
      reason: '2 of 2 upgraded nodes run their old version again',
      summary: { successful: 0, failed: 3, rolledBack: 3 },
      rollback: { reason: 'ThresholdBreached', total: 2, successful: 2 },
    })
    expect(status?.conditions?.find(({ type }) => type === 'Finished')?.reason).toBe('RolledBack')
    expect(good.map((edge) => edge.version)).toEqual(['v1.11.0', 'v1.11.0'])
    expect(status?.nodeStatus?.map(({ currentVersion }) => currentVersion)).toEqual([
      'v1.11.0',
      'v1.11.0',
      'v1.11.0',
    ])
  })

  it('skips a node that another job holds (busyPolicy), and goes when its time is over (ttlSecondsAfterFinished)', async () => {
    const names = namesOf(await fleet(1, { ...FINE, upgradeMs: 2_000 }))
    const first = await create(names, {})
    await until('the node is held', async () =>
      (await tasksOf(first)).some(({ status }) => status?.phase === 'InProgress'),
    )
    const second = await create(
      names,
      { version: 'v1.13.0', upgradeHub: { busyPolicy: 'Skip' } },
      { ttlSecondsAfterFinished: 0 },
    )
    await until(
      'the second job is gone',
      async () => (await call(plane, 'GET', `${JOBS}/${second}`)).status === 404,
    )
    expect((await ends(first)).status).toMatchObject({ phase: 'Completed' })
  })

  describe('isolation Drain', () => {
    const PODS = '/api/v1/namespaces/default/pods'
    const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    const isThere = async (pod: string) => (await call(plane, 'GET', `${PODS}/${pod}`)).status === 200
    const unmanagedPods = 'Delete' as const

    async function pod(nodeName: string, more: object = {}, spec: object = {}): Promise<string> {
      const name = uniqueName('pod')
      const containers = [{ name: 'app', image: 'app' }]
      const metadata = { name, labels: { app: nodeName }, ...more }
      const body = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata,
        spec: { nodeName, containers, automountServiceAccountToken: false, ...spec },
      }
      const answer = await call(plane, 'POST', PODS, { body })
      expect(answer.status, JSON.stringify(answer.body)).toBe(201)
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
      await call(plane, 'PATCH', `${PODS}/${name}/status`, {
        body: { status },
        contentType: 'application/merge-patch+json',
      })
      return name
    }
    async function budget(nodeName: string): Promise<string> {
      const name = uniqueName('budget')
      const spec = { minAvailable: 1, selector: { matchLabels: { app: nodeName } } }
      const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec }
      expect((await call(plane, 'POST', BUDGETS, { body })).status).toBe(201)
      return name
    }
    const owner = (kind: string) => ({
      ownerReferences: [{ apiVersion: 'apps/v1', kind, name: 'x', uid: uniqueName('uid'), controller: true }],
    })

    it('evicts what may go, waits for disruption budgets, and leaves what belongs to the node', async () => {
      const [node = ''] = namesOf(await fleet(1))
      // Only one pod is under the budget: of two it would let one go.
      const guarded = await pod(node)
      const daemon = await pod(node, { ...owner('DaemonSet'), labels: {} })
      const guard = await budget(node)
      const name = await create([node], {
        upgradeHub: { isolation: 'Drain', drain: { unmanagedPods, gracePeriodSeconds: 0 } },
      })
      await until('the node is being emptied', async () =>
        (await tasksOf(name)).some(({ status }) => status?.reason === 'Draining'),
      )
      expect(await isThere(guarded)).toBe(true)
      expect((await tasksOf(name))[0]?.status?.intent?.verb).toBe('prepare')
      await call(plane, 'DELETE', `${BUDGETS}/${guard}`)
      expect((await ends(name)).status?.phase).toBe('Completed')
      expect([await isThere(guarded), await isThere(daemon)]).toEqual([false, true])
    })

    it('gives up in time, and leaves the node as open as it was (R19)', async () => {
      const [node = ''] = namesOf(await fleet(1))
      const guarded = await pod(node)
      await budget(node)
      const drain = { unmanagedPods, timeoutSeconds: 1, onTimeout: 'Skip' as const }
      const name = await create([node], { upgradeHub: { isolation: 'Drain', drain } })
      expect((await ends(name)).status?.nodeStatus?.[0]).toMatchObject({
        phase: 'Skipped',
        outcome: 'DrainTimeout',
      })
      expect(await isThere(guarded)).toBe(true)
      const { body } = await call(plane, 'GET', `/api/v1/nodes/${node}`)
      expect((body as { spec: { unschedulable?: boolean } }).spec.unschedulable ?? false).toBe(false)
    })

    it('touches no pod of a node that has one which may not be deleted', async () => {
      const [node = ''] = namesOf(await fleet(1))
      const pods = [await pod(node, owner('ReplicaSet')), await pod(node)]
      const name = await create([node], { upgradeHub: { isolation: 'Drain' } })
      expect((await ends(name)).status?.nodeStatus?.[0]).toMatchObject({
        phase: 'Failure',
        outcome: 'DrainRefused',
      })
      expect(await Promise.all(pods.map(isThere))).toEqual([true, true])
    })
  })
})
