import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { refuse } from '@upgrade-hub/kube/testing'
import { aJob, aTask, condition, PROCEEDING, reported } from '@upgrade-hub/rollout/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
