import { HOLD_ANNOTATION, type NodeUpgradeJob } from '@upgrade-hub/api'
import { refuse } from '@upgrade-hub/kube/testing'
import { aJob, aTask, condition, held, PROCEEDING, reported } from '@upgrade-hub/rollout/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TASKS } from './cluster/resources.ts'
import { edgeNode, edgeNodes } from './testing/nodes.ts'
import { Stage } from './testing/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.start()
})
afterEach(() => stage[Symbol.asyncDispose]())

const ended = (type: 'Complete' | 'Failed', reason: string): NonNullable<NodeUpgradeJob['status']> => ({
  conditions: [
    condition('Accepted', 'True', 'Accepted'),
    condition(type, 'True', reason),
    condition('Finished', 'True', reason),
  ],
})

describe('the exit code of status', () => {
  it.each([
    ['complete', ended('Complete', 'Completed'), 0],
    ['complete with failures', ended('Complete', 'CompletedWithFailures'), 0],
    ['failed', ended('Failed', 'ThresholdBreached'), 1],
    ['running', { conditions: [condition('Accepted', 'True', 'Accepted')] }, 3],
    ['seen by no hub', {}, 3],
  ] as const)('tells a job that is %s', async (_, status, code) => {
    stage.putJob(aJob({}, { status: status as NonNullable<NodeUpgradeJob['status']> }))
    expect((await stage.run(['status', 'job'])).code).toBe(code)
  })

  it('tells what could not be found, was refused, or did not answer', async () => {
    expect(await stage.run(['status', 'other'])).toMatchObject({ code: 4, out: '' })
    stage.server.plan(refuse(403, 'Forbidden', 'no'), () => true, 9)
    expect(await stage.run(['status', 'job'])).toMatchObject({
      code: 5,
      err: expect.stringMatching(/^KUBE_FORBIDDEN: /),
    })
    await stage.server[Symbol.asyncDispose]()
    const answer = stage.run(['status'])
    let isOver = false
    void answer.then(() => (isOver = true))
    while (!isOver) await stage.clock.advance(1_000)
    expect((await answer).code).toBe(6)
    stage = await Stage.start()
  })

  it('tells wrong usage', async () => {
    for (const args of [
      ['frob'],
      ['status', 'a', 'b'],
      ['status', '-o', 'xml'],
      ['status', '--frob'],
      ['pause'],
      ['watch', 'A/b'],
    ]) {
      expect(await stage.run(args), args.join(' ')).toMatchObject({
        code: 2,
        err: expect.stringMatching(/^PLUGIN_USAGE: /),
      })
    }
  })
})

describe('status', () => {
  it('shows those nodes first that need attention, with what goes on', async () => {
    const job = aJob(
      { nodeNames: ['n1', 'n2', 'n3'] },
      {
        status: {
          conditions: [
            condition('Accepted', 'True', 'Accepted'),
            condition('Progressing', 'True', 'Upgrading'),
          ],
          plan: { total: 3, hash: '' },
          startTime: '2025-12-31T23:58:00Z',
        },
      },
    )
    stage.putJob(job)
    const failed = {
      ...reported('RolledBack', 'HealthFailed'),
      phase: 'Failure',
      reason: 'HealthFailed',
      message: 'it \u001b[31mdied\nat once',
    } as const
    const swapping = { ...PROCEEDING, edge: { attempt: 1, seq: 7, step: 'E7' } }
    stage.putTasks(aTask({}, job, 'n1', 0), aTask(swapping, job, 'n2', 1), aTask(failed, job, 'n3', 2))
    const { out } = await stage.run(['status', 'job', '-o', 'wide'])
    expect(out.split('\n').map((line) => line.trimEnd())).toEqual([
      'job to v1.12.0: Upgrading',
      '██████████░░░░░░░░░░░░░░░░░░░░ 1/3 ended: 1 failed, 1 in progress, 1 waiting',
      'started 2m ago',
      '',
      'NODE   PHASE        DOING                       FROM      SINCE   REASON         TRY   TO        MESSAGE',
      'n3     Failure                                  v1.11.0   0s      HealthFailed   1     v1.12.0   it \ufffd[31mdied at once',
      'n2     InProgress   ████████▋░░░ 72% swapping   v1.11.0   0s                     1     v1.12.0',
      'n1     Pending      waiting                                                      0     v1.12.0',
      '',
    ])
  })

  it('speaks to programs', async () => {
    stage.putJob(aJob())
    const json = JSON.parse((await stage.run(['status', 'job', '-ojson'])).out) as object
    expect(json).toMatchObject({ name: 'job', version: 'v1.12.0', isOver: false })
    expect((await stage.run(['status', 'job', '-oyaml'])).out).toContain('name: job\nversion: v1.12.0\n')
  })

  it('reads no more tasks of a big job than it shows', async () => {
    const job = aJob()
    stage.putJob(job)
    for (let at = 0; at < 300; at++) stage.putTasks(aTask({}, job, `n${at}`, at))
    const { out } = await stage.run(['status', 'job'])
    expect(out.split('\n').filter((line) => line.startsWith('n'))).toHaveLength(50)
    const limits = stage.server.requests
      .filter(({ path }) => path.includes('tasks'))
      .map(({ query }) => query.get('limit'))
    expect(new Set(limits)).toEqual(new Set(['50']))
  })
})

describe('steering a job', () => {
  it('writes once, under what was read', async () => {
    stage.putJob(aJob())
    expect(await stage.run(['pause', 'nuj/job'])).toEqual({
      code: 0,
      out: 'nodeupgradejob/job paused\n',
      err: '',
    })
    expect(await stage.run(['pause', 'job'])).toMatchObject({
      code: 0,
      out: 'nodeupgradejob/job is paused already\n',
    })
    const writes = stage.server.requests.filter(({ method }) => method === 'PATCH')
    expect(writes.map(({ body }) => JSON.parse(body) as object)).toEqual([
      { control: { paused: true }, metadata: { resourceVersion: '101' } },
    ])
  })

  it('looks again at a job that changed in between', async () => {
    stage.putJob(aJob())
    stage.server.plan(refuse(409, 'Conflict', 'changed'), ({ method }) => method === 'PATCH')
    expect(await stage.run(['cancel', 'job'])).toMatchObject({
      code: 0,
      out: 'nodeupgradejob/job cancelled\n',
    })
    expect(stage.job('job').control).toEqual({ cancelled: true })
  })

  it('does what a second person did meanwhile only once', async () => {
    stage.putJob(aJob({}, { control: { cancelled: true } }))
    expect(await stage.run(['cancel', 'job'])).toMatchObject({
      code: 0,
      out: 'nodeupgradejob/job is cancelled already\n',
    })
    expect(await stage.run(['resume', 'job'])).toMatchObject({ code: 5 })
  })

  it('writes nothing in a dry run, nor to a job that is over', async () => {
    stage.putJob(aJob())
    expect((await stage.run(['pause', 'job', '--dry-run=client'])).out).toBe(
      'nodeupgradejob/job paused (dry run)\n',
    )
    stage.putJob(aJob({}, { status: ended('Complete', 'Completed') }))
    for (const verb of ['pause', 'resume', 'cancel']) expect((await stage.run([verb, 'job'])).code).toBe(5)
    expect(stage.server.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  })
})

describe('creating a job', () => {
  it('asks the API server to judge a dry run', async () => {
    const args = ['new', '--to-version=v1.12.0', '--node=n1']
    expect((await stage.create([...args, '--dry-run=server'])).out).toContain('new created (server dry run)')
    expect(() => stage.job('new')).toThrow('there is no job new')
    expect((await stage.create([...args, '-o', 'name'])).out).toBe(
      'nodeupgradejob.operations.kubeedge.io/new\n',
    )
    expect(stage.job('new').spec).toEqual({ version: 'v1.12.0', nodeNames: ['n1'] })
    expect(await stage.create(args)).toMatchObject({
      code: 5,
      err: expect.stringMatching(/^KUBE_ALREADY_EXISTS: /),
    })
  })
})

describe('approving a wave', () => {
  const waves = [
    { name: 'canary', size: 1 },
    { name: 'some', size: 2, approval: 'Required' as const },
  ]
  const waits = (control: NodeUpgradeJob['control'] = {}): NodeUpgradeJob =>
    aJob(
      { upgradeHub: { waves } },
      {
        control,
        status: {
          conditions: [
            condition('Accepted', 'True', 'Accepted'),
            condition('Progressing', 'False', 'WaitingForApproval'),
          ],
          waves: [
            { name: 'canary', state: 'Done', size: 1 },
            { name: 'some', state: 'WaitingForApproval', size: 2 },
          ],
        },
      },
    )

  it('adds the wave that waits to those approved, with who and why', async () => {
    stage.putJob(waits({ approvals: [{ wave: 'canary', by: 'eve' }] }))
    stage.server.plan(
      { status: 201, body: { status: { userInfo: { username: 'ann' } } } },
      ({ path }) => path.includes('selfsubjectreviews'),
      9,
    )
    expect((await stage.run(['status', 'job'])).out).toContain(
      'waves: canary (1) Done, some (2) WaitingForApproval\n',
    )
    expect((await stage.run(['approve', 'job', '--reason', 'looks good'])).out).toBe(
      'nodeupgradejob/job wave some approved by ann\n',
    )
    expect(stage.job('job').control?.approvals).toEqual([
      { wave: 'canary', by: 'eve' },
      { wave: 'some', by: 'ann', reason: 'looks good' },
    ])
    expect((await stage.run(['approve', 'job'])).out).toBe(
      'nodeupgradejob/job wave some is approved already, by ann\n',
    )
  })

  it('is refused where no wave waits, or the wave needs none', async () => {
    stage.server.plan(
      refuse(404, 'NotFound', 'not served'),
      ({ path }) => path.includes('selfsubjectreviews'),
      9,
    )
    stage.putJob(waits())
    expect(await stage.run(['approve', 'job', '--wave=canary'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('some does'),
    })
    stage.putJob(aJob())
    expect(await stage.run(['approve', 'job'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('no wave'),
    })
  })
})

describe('retrying', () => {
  const failedOf = (job: NodeUpgradeJob, phase: 'Failure' | 'Unknown', node: string, order: number) =>
    aTask({ ...reported('RolledBack', 'HealthFailed'), phase, reason: 'HealthFailed' }, job, node, order)

  it('raises control.retry while the job is open, and only when something failed', async () => {
    stage.putJob(
      aJob(
        {},
        {
          control: { retry: 1 },
          status: { conditions: [condition('Accepted', 'True', 'Accepted')], summary: { failed: 2 } },
        },
      ),
    )
    expect((await stage.run(['retry', 'job'])).out).toBe('nodeupgradejob/job tries 2 failed nodes again\n')
    expect(stage.job('job').control).toEqual({ retry: 2 })
    stage.putJob(aJob())
    expect((await stage.run(['retry', 'job'])).code).toBe(5)
  })

  it('makes one new job of the failed names when the job is over', async () => {
    const job = aJob(
      {
        labelSelector: { matchLabels: { a: 'b' } },
        concurrency: 3,
        upgradeHub: { maxUnavailable: 2, exclude: { nodeNames: ['x'] } },
      },
      { status: ended('Failed', 'ThresholdBreached') },
    )
    stage.putJob(job)
    stage.putTasks(
      aTask({ phase: 'Successful' }, job, 'n1', 0),
      failedOf(job, 'Unknown', 'n2', 2),
      failedOf(job, 'Failure', 'n3', 1),
    )
    expect((await stage.run(['retry', 'job'])).out).toBe(
      'nodeupgradejob/job-retry-1 created, with 2 nodes that failed in job\n',
    )
    expect(stage.job('job-retry-1')).toMatchObject({
      metadata: { annotations: { 'upgradehub.io/retry-of': 'job' } },
      spec: {
        version: 'v1.12.0',
        nodeNames: ['n3', 'n2'],
        concurrency: 3,
        upgradeHub: { maxUnavailable: 2 },
      },
    })
    expect(stage.job('job-retry-1').spec).not.toHaveProperty('labelSelector')
    expect((await stage.run(['retry', 'job'])).out).toBe(
      'nodeupgradejob/job-retry-1 tries them again already\n',
    )
  })
})

describe('holding a node', () => {
  it('marks it once, and takes the mark back', async () => {
    stage.putNodes(edgeNode('n1'))
    const mark = () =>
      (stage.server.objects.get('/api/v1/nodes/n1')?.metadata.annotations ?? {})[
        'upgradehub.io/keep-cordoned'
      ]
    expect((await stage.run(['hold', 'node/n1', '--reason', 'disk is to be changed'])).out).toContain(
      'stays cordoned',
    )
    expect(mark()).toBe('disk is to be changed')
    expect((await stage.run(['hold', 'n1'])).out).toContain('already')
    expect((await stage.run(['hold', 'n1', '--remove'])).out).toContain('is left as it was')
    expect(mark()).toBeUndefined()
    expect((await stage.run(['hold', 'ghost'])).code).toBe(4)
  })
})

describe('the past of a node', () => {
  beforeEach(() => {
    const job = aJob()
    stage.putJob(job)
    const attempts = [
      {
        attempt: 1,
        outcome: 'RolledBack',
        reason: 'HealthFailed',
        from: 'v1.11.0',
        to: 'v1.12.0',
        time: '2025-12-31T23:00:00Z',
      },
    ]
    const edge = { attempt: 2, seq: 7, step: 'E7', logTail: 'boom \u001b[2J\nlast line\n' }
    stage.putTasks(aTask({ ...PROCEEDING, attempt: 2, attempts, edge }, job))
    stage.putNodes({
      ...edgeNode('n1'),
      metadata: {
        ...edgeNode('n1').metadata,
        annotations: { 'nodeupgradejob.operations.kubeedge.io/history': 'v1.10.0->v1.11.0' },
      },
    })
  })

  it('is every attempt, the one that runs first, and what the node remembers', async () => {
    const wanted = [
      'NODE   JOB   TRY   FROM      TO        OUTCOME      REASON         AGE',
      'n1     job   2     v1.11.0   v1.12.0   InProgress',
      'n1     job   1     v1.11.0   v1.12.0   RolledBack   HealthFailed   60m',
    ]
    expect((await stage.run(['history', 'n1'])).out.split('\n')).toEqual([
      ...wanted,
      'versions: v1.10.0 to v1.11.0',
      '',
    ])
    expect((await stage.run(['history', 'job'])).out.split('\n')).toEqual([...wanted, ''])
    expect((await stage.run(['history', 'node/job'])).code).toBe(4)
  })

  it('comes with the log that the node sent, made harmless (S39)', async () => {
    expect(await stage.run(['logs', 'n1'])).toMatchObject({ code: 0, out: 'boom \ufffd[2J\nlast line\n' })
    expect((await stage.run(['logs', 'n2'])).code).toBe(4)
  })
})

describe('planning', () => {
  it('shows what the job would do, asks admission, and writes nothing', async () => {
    stage.putNodes(...edgeNodes(4), edgeNode('edge-05', { version: 'v1.12.0' }))
    const { code, out } = await stage.run(['plan', '--to-version=v1.12.0', '--all-nodes', '--concurrency=2'])
    expect({ code, out: out.split('\n') }).toEqual({
      code: 0,
      out: [
        'this job to v1.12.0: 4 of 5 nodes, 2 at a time, 0 failures tolerated',
        'at most 23m by its time limits; no earlier job to measure by',
        'it would end Completed: 4 of 5 nodes run the version',
        '',
        'NODE      FROM      BEGINS   ENDS',
        'edge-01   v1.11.0   +5m      +14m',
        'edge-02   v1.11.0   +5m      +14m',
        'edge-03   v1.11.0   +14m     +23m',
        'edge-04   v1.11.0   +14m     +23m',
        '',
        'NOT UPGRADED   REASON             WHY',
        'edge-05        AlreadyAtVersion   the node already runs the version',
        '',
        'Nothing was written. Taken to be so: no node fails.',
        '',
      ],
    })
    const writes = stage.server.requests.filter(({ method }) => method !== 'GET')
    expect(writes.map(({ method, query }) => `${method} ${query.get('dryRun')}`)).toEqual(['POST All'])
  })

  it('takes a manifest, and refuses what admission refuses', async () => {
    const input = JSON.stringify({
      apiVersion: 'operations.kubeedge.io/v1alpha1',
      kind: 'NodeUpgradeJob',
      metadata: { name: 'm' },
      spec: { version: 'v1.12.0', nodeNames: ['edge-01'] },
    })
    stage.putNodes(...edgeNodes(1))
    expect((await stage.run(['plan', '-f', '-'], { input })).out).toContain('m to v1.12.0: 1 of 1 nodes')
    stage.server.plan(refuse(422, 'Invalid', 'invalid version'), ({ method }) => method === 'POST')
    expect(await stage.run(['plan', '-f', '-'], { input })).toMatchObject({ code: 5 })
    expect(await stage.run(['plan', '-f', '-'], { input: 'kind: Pod' })).toMatchObject({ code: 2 })
    expect(await stage.run(['plan', '-f', '/nonexistent'])).toMatchObject({ code: 2 })
  })
})

describe('doctor', () => {
  it('looks at the marks of all nodes with one question, and asks no question often', async () => {
    for (const [at, node] of edgeNodes(9).entries()) {
      const task = aTask(PROCEEDING, aJob(), node.metadata.name, at)
      const { metadata } = stage.server.put(TASKS, task)
      const hold = JSON.stringify(held({ ...task, metadata }).hold)
      stage.putNodes({ ...node, metadata: { ...node.metadata, annotations: { [HOLD_ANNOTATION]: hold } } })
    }
    stage.server.plan({ status: 200, body: {} }, ({ path }) => path === '/version', 9)
    stage.server.plan(refuse(503, 'ServiceUnavailable', 'no'), ({ path }) => path.includes('leases'), 9)
    const answer = stage.run(['doctor'])
    let isOver = false
    void answer.then(() => (isOver = true))
    while (!isOver) await stage.clock.advance(1_000)
    expect((await answer).out).toMatch(/^ok +holds +9 nodes are held, each for an upgrade that runs$/m)
    const asked = (word: RegExp) => stage.server.requests.filter(({ path }) => word.test(path)).length
    // Active tasks, and those of silent edges.
    expect(asked(/\/nodeupgradetasks$/)).toBe(2)
    expect(asked(/leases/)).toBe(2)
  })
})

describe('why', () => {
  it('answers from what is stored', async () => {
    const job = aJob({}, { control: { paused: true } })
    stage.putJob(job)
    stage.putNodes(edgeNode('n1'), edgeNode('n2'))
    stage.putTasks(aTask({}, job))
    expect((await stage.run(['why', 'n1'])).out).toBe(
      'n1 does not move in job job: the job is paused (kubectl nodeupgrade resume lets it go on).\n',
    )
    expect((await stage.run(['why', 'n2'])).out).toContain('no job concerns it')
    expect(await stage.run(['why', 'ghost'])).toMatchObject({
      code: 4,
      out: expect.stringContaining('no Node of that name'),
    })
  })
})
