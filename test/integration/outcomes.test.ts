import { afterAll, beforeAll, expect, it } from 'vitest'
import { Fleet, OLD_VERSION } from '../harness/fleet.ts'
import { call, describePlanes, uniqueName } from '../harness/index.ts'

const LEGACY = 'modules:\n  legacyDeviceTwin: {}\n'

describePlanes('what a job comes to', (plane) => {
  let fleet: Fleet
  const [first, second, legacy] = [uniqueName('first'), uniqueName('second'), uniqueName('legacy')]
  const edge = (name: string) => fleet.edges.get(name)!

  beforeAll(async () => {
    fleet = await Fleet.start(plane)
    await fleet.addEdges([first, second])
    await fleet.addEdges([legacy], LEGACY)
  })
  afterAll(() => fleet?.stop())

  const rowsOf = async (name: string) => {
    const { status } = await fleet.finished(name)
    return new Map(status?.nodeStatus?.map((row) => [row.nodeName, row]))
  }
  const isCordoned = async (name: string) => (await fleet.node(name)).spec?.unschedulable ?? false

  it("runs KubeEdge's published sample of v1.12, unchanged but for whom it selects, to its end", async () => {
    const name = uniqueName('sample')
    await fleet.createJob(
      name,
      { image: undefined, upgradeHub: undefined, version: 'v1.10.0', timeoutSeconds: 60, nodeNames: [first] },
      'operations.kubeedge.io/v1alpha1',
    )
    const { status } = await fleet.finished(name)
    expect(status, await fleet.picture(name)).toMatchObject({ phase: 'Completed', state: 'completed' })
    expect(status?.status?.[0]?.history).toMatchObject({
      fromVersion: OLD_VERSION,
      toVersion: 'v1.10.0',
      result: 'upgrade_success',
    })
    expect(fleet.installed(edge(first))).toBe('v1.10.0')
  })

  it('runs the sample of v1.16 as v1alpha2, and both versions show the same', async () => {
    const name = uniqueName('sample')
    await fleet.createJob(name, {
      image: undefined,
      upgradeHub: undefined,
      version: 'v1.16.0',
      checkItems: ['mem', 'disk'],
      failureTolerate: '0.3',
      concurrency: 2,
      timeoutSeconds: 180,
      nodeNames: [first, second],
    })
    const { status, spec } = await fleet.finished(name)
    expect(status, await fleet.picture(name)).toMatchObject({ phase: 'Completed', progress: '2/2' })
    const path = `/apis/operations.kubeedge.io/v1alpha1/nodeupgradejobs/${name}`
    const { body } = await call(plane, 'GET', path)
    expect(body).toMatchObject({ spec, status: { phase: 'Completed', nodeStatus: status?.nodeStatus } })
  })

  it('rolls back what does not become healthy, and says so in the words of both versions', async () => {
    const name = uniqueName('sick')
    await fleet.createJob(name, { version: 'v1.23.1', nodeNames: [legacy] })
    const { status } = await fleet.finished(name)
    expect(status, await fleet.picture(name)).toMatchObject({
      phase: 'Failure',
      summary: { failed: 1, rolledBack: 1 },
    })
    expect(status?.status?.[0]?.history?.result).toBe('upgrade_failed_rollback_success')
    expect(fleet.installed(edge(legacy))).toBe(OLD_VERSION)
    expect(await isCordoned(legacy)).toBe(false)
    const [task] = await fleet.tasks(name)
    expect(task?.status).toMatchObject({
      phase: 'Failure',
      edge: { results: [{ outcome: 'RolledBack', runningVersion: OLD_VERSION }] },
    })
  })

  it('refuses node by node, each with its reason, and touches none of them', async () => {
    const [stranger, away, unknown] = [uniqueName('stranger'), uniqueName('away'), uniqueName('unknown')]
    const edgeLabel = { 'node-role.kubernetes.io/edge': '' }
    for (const [name, labels] of [
      [stranger, {}],
      [away, edgeLabel],
    ] as const) {
      const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } }
      expect((await call(plane, 'POST', '/api/v1/nodes', { body })).status).toBe(201)
    }
    const name = uniqueName('mixed')
    const nodeNames = [unknown, stranger, away, first, first, legacy]
    await fleet.createJob(name, { version: 'v1.16.0', nodeNames, failureTolerate: '1', timeoutSeconds: 5 })
    const rows = await rowsOf(name)
    expect(rows.size, await fleet.picture(name)).toBe(5)
    expect(rows.get(unknown)).toMatchObject({ phase: 'Failure', outcome: 'NotFound' })
    expect(rows.get(unknown)?.reason).toContain('failed to get node')
    expect(rows.get(stranger)).toMatchObject({ phase: 'Failure', reason: 'the node is not an edge node' })
    expect(rows.get(away)).toMatchObject({ phase: 'Skipped', outcome: 'Offline' })
    expect(rows.get(first)).toMatchObject({ phase: 'Skipped', outcome: 'AlreadyAtVersion' })
    for (const node of [stranger, away, first]) expect(await isCordoned(node)).toBe(false)
  })

  it('does not hold a node for a download that fails', async () => {
    const name = uniqueName('no-image')
    await fleet.createJob(name, { version: 'v8.8.8', nodeNames: [second], timeoutSeconds: 30 })
    const rows = await rowsOf(name)
    expect(rows.get(second), await fleet.picture(name)).toMatchObject({ phase: 'Failure' })
    const [task] = await fleet.tasks(name)
    expect(task?.status?.hold).toBeUndefined()
    expect((await fleet.node(second)).metadata.annotations?.['upgradehub.io/epoch']).toBe('1')
    expect(fleet.installed(edge(second))).toBe('v1.16.0')
  })

  it('leaves a node closed that a person had closed before', async () => {
    await fleet.patchNode(second, { spec: { unschedulable: true } })
    const name = uniqueName('closed')
    await fleet.createJob(name, { version: 'v1.22.0', nodeNames: [second] })
    const { status } = await fleet.finished(name)
    expect(status, await fleet.picture(name)).toMatchObject({ phase: 'Completed' })
    expect(await isCordoned(second)).toBe(true)
    await fleet.patchNode(second, { spec: { unschedulable: null } })
  })

  it('cancels what has not begun, twice over, and waits for nothing', async () => {
    const name = uniqueName('cancelled')
    await fleet.createJob(name, { version: 'v1.23.0', nodeNames: [first, second], upgradeHub: {} })
    for (const again of [1, 2])
      expect(await fleet.patchJob(name, { control: { cancelled: true } }), `${again}`).toBe(200)
    const { status } = await fleet.finished(name)
    expect(status?.conditions?.find(({ type }) => type === 'Finished')?.reason).toBe('Cancelled')
    for (const node of [first, second]) expect(await isCordoned(node)).toBe(false)
  })

  it('can be deleted in the middle: what runs ends, and nothing of ours stays on the node', async () => {
    const name = uniqueName('deleted')
    await fleet.createJob(name, {
      version: 'v1.23.0',
      nodeNames: [first],
      upgradeHub: { versionPolicy: 'AllowDowngrade' },
    })
    await fleet.task(name, first, ({ status }) => status?.phase === 'InProgress')
    await fleet.deleteJob(name)
    await fleet.gone(name)
    const node = await fleet.node(first)
    expect(node.metadata.annotations).not.toHaveProperty('upgradehub.io/hold')
    expect(await isCordoned(first)).toBe(false)
    expect(fleet.installed(edge(first))).toMatch(/^v1\.(16\.0|23\.0)$/)
  })

  it('never asked for a right that the manifests do not give', () => {
    expect(fleet.hubLog).not.toMatch(/KUBE_FORBIDDEN|"status":403/)
  })
})
