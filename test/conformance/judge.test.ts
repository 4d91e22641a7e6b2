import { compileCrd, type JsonObject } from '@upgrade-hub/embedded/schema'
import { expect, it } from 'vitest'
import { call, uniqueName } from '../harness/index.ts'
import { describeReal } from './compare.ts'
import { BAD_JOBS, GOOD_SPECS } from './job-cases.ts'
import { JOBS, JOBS_V1ALPHA1, job, TASKS, task } from './objects.ts'
import { JOB_CRD, TASK_CRD, toldBy, toldByUs } from './verdict.ts'

const PATHS = { v1alpha1: JOBS_V1ALPHA1, v1alpha2: JOBS } as const
const VERSIONS = ['v1alpha1', 'v1alpha2'] as const

describeReal('the verdict of our engine on a new job', (real) => {
  it.each(VERSIONS.flatMap((version) => BAD_JOBS.map((bad) => [version, bad.title, bad] as const)))(
    'is that of the API server, and a refusal: %s, %s',
    async (version, _, { spec, sentence }) => {
      const bad = job(uniqueName('bad'), { spec, version })
      const answer = await call(real, 'POST', PATHS[version], { body: bad })
      const ours = toldByUs(JOB_CRD, bad)
      expect(ours).toEqual(toldBy(answer))
      expect(ours.join('\n')).toContain(sentence)
    },
  )

  it.each(VERSIONS.flatMap((version) => GOOD_SPECS.map(([title, spec]) => [version, title, spec] as const)))(
    'is that of the API server, and the stored object the same: %s, %s',
    async (version, _, spec) => {
      const good = job(uniqueName('good'), { spec, version })
      const answer = await call(real, 'POST', `${PATHS[version]}?dryRun=All`, { body: good })
      expect(toldBy(answer)).toEqual([])
      const schema = compileCrd(JOB_CRD, version)
      const stored = schema.applyDefaults(schema.prune(good as unknown as JsonObject).object)
      expect(stored.spec).toEqual((answer.body as { spec: unknown }).spec)
      expect(schema.validate(stored)).toEqual([])
    },
  )
})

describeReal('the verdict of our engine on a change of a job', (real) => {
  const spec = { version: 'v1.12.0', nodeNames: ['edge-1', 'edge-2'], concurrency: 2 }
  const SENTENCE = "spec fields are not allowed to update once it's created"

  it.each<[string, object, object, string]>([
    ['another version', {}, { spec: { ...spec, version: 'v1.13.0' } }, SENTENCE],
    ['one node more', {}, { spec: { ...spec, nodeNames: ['edge-1', 'edge-2', 'edge-3'] } }, SENTENCE],
    ['a field of ours more', {}, { spec: { ...spec, upgradeHub: { isolation: 'None' } } }, SENTENCE],
    ['spec taken away', {}, { spec: null }, SENTENCE],
    ['control taken away', { control: { paused: true } }, {}, 'control cannot be removed once it is set'],
    [
      'a cancel taken back',
      { control: { cancelled: true } },
      { control: { cancelled: false } },
      'a cancelled job stays cancelled',
    ],
    [
      'a cancel dropped',
      { control: { cancelled: true } },
      { control: { paused: true } },
      'a cancelled job stays cancelled',
    ],
    [
      'an approval taken back',
      { control: { approvals: [{ wave: 'a', by: 'ann' }] } },
      { control: { approvals: [] } },
      'an approval that was given cannot be changed',
    ],
    [
      'an approval in another name',
      { control: { approvals: [{ wave: 'a', by: 'ann' }] } },
      { control: { approvals: [{ wave: 'a', by: 'bert' }] } },
      'an approval that was given cannot be changed',
    ],
    ['a retry counted down', { control: { retry: 2 } }, { control: { retry: 1 } }, 'it can only be raised'],
  ])('refuses %s, as the API server does', async (_, before, after, sentence) => {
    const first = job(uniqueName('job'), { spec, ...before })
    const { body: stored } = await call(real, 'POST', JOBS, { body: first })
    const { metadata } = stored as { metadata: object }
    const next = { ...job(first.metadata.name, { spec, ...after }), metadata }
    const answer = await call(real, 'PUT', `${JOBS}/${first.metadata.name}`, { body: next })
    const ours = toldByUs(JOB_CRD, next, stored)
    expect(ours).toEqual(toldBy(answer))
    expect(ours.join('\n')).toContain(sentence)
  })

  it.each<[string, object, object]>([
    ['a label', {}, { metadata: { labels: { a: 'b' } } }],
    ['a control', {}, { control: { paused: true } }],
    ['a control undone', { control: { paused: true } }, { control: { paused: false } }],
    [
      'the same again in another order',
      {},
      { spec: { concurrency: 2, nodeNames: ['edge-1', 'edge-2'], version: 'v1.12.0' } },
    ],
    [
      'the defaults written out',
      {},
      { spec: { ...spec, timeoutSeconds: 300, image: 'kubeedge/installation-package' } },
    ],
  ])('accepts %s, as the API server does', async (_, before, after) => {
    const first = job(uniqueName('job'), { spec, ...before })
    const { body: stored } = await call(real, 'POST', JOBS, { body: first })
    const changed = job(first.metadata.name, { spec, ...after })
    const { resourceVersion } = (stored as { metadata: { resourceVersion: string } }).metadata
    const next = { ...changed, metadata: { ...changed.metadata, resourceVersion } }
    const answer = await call(real, 'PUT', `${JOBS}/${first.metadata.name}`, { body: next })
    expect(toldBy(answer)).toEqual([])
    expect(toldByUs(JOB_CRD, next, stored)).toEqual([])
  })
})

const result = { attempt: 1, outcome: 'Succeeded', from: 'v1.11.0', to: 'v1.12.0' }
const edge = {
  attempt: 1,
  seq: 5,
  actions: [{ action: 'Check', succ: true }],
  results: [result],
  late: [{ ...result, attempt: 1 }],
}
const ended = { phase: 'Failure', attempt: 1, attempts: [{ attempt: 1, outcome: 'Failed' }], edge }

describeReal('the verdict of our engine on a stale status of a task', (real) => {
  it.each<[string, object, object | undefined]>([
    ['an older journal number', ended, { ...ended, edge: { ...edge, seq: 4 } }],
    ['an older attempt of the edge', { ...ended, edge: { ...edge, attempt: 2 } }, ended],
    ['an action unsaid', ended, { ...ended, edge: { ...edge, actions: [] } }],
    [
      'actions left out',
      ended,
      { ...ended, edge: { attempt: 1, seq: 6, results: [result], late: edge.late } },
    ],
    [
      'an action changed',
      ended,
      { ...ended, edge: { ...edge, seq: 6, actions: [{ action: 'Check', succ: false }] } },
    ],
    ['a result unsaid', ended, { ...ended, edge: { ...edge, results: [] } }],
    [
      'a result changed',
      ended,
      { ...ended, edge: { ...edge, results: [{ ...result, outcome: 'RolledBack' }] } },
    ],
    ['a result gained a word', ended, { ...ended, edge: { ...edge, results: [{ ...result, code: 'X' }] } }],
    ['a late result unsaid', ended, { ...ended, edge: { ...edge, late: [] } }],
    ['the edge unsaid', ended, { phase: 'Failure', attempt: 1, attempts: ended.attempts }],
    ['the status unsaid', ended, undefined],
    ['an end undone', ended, { ...ended, phase: 'InProgress' }],
    ['an end become another', { ...ended, phase: 'Successful' }, { ...ended, phase: 'Failure' }],
    ['a failure pending again without an attempt', ended, { ...ended, phase: 'Pending' }],
    ['a failure pending again two attempts later', ended, { ...ended, phase: 'Pending', attempt: 3 }],
    ['an attempt going back', { ...ended, attempt: 2 }, ended],
    ['an attempt unsaid', ended, { phase: 'Failure', attempts: ended.attempts, edge }],
    ['how an attempt ended, changed', ended, { ...ended, attempts: [{ attempt: 1, outcome: 'Succeeded' }] }],
    ['how an attempt ended, unsaid', ended, { ...ended, attempts: [] }],
    ['an unknown phase', ended, { ...ended, phase: 'Done' }],
    ['a cancelled task running', { phase: 'Cancelled' }, { phase: 'InProgress' }],
  ])('refuses %s, as the API server does', async (_, before, after) => {
    const { stored, next, answer } = await writeStatus(before, after)
    const ours = toldByUs(TASK_CRD, next, stored)
    expect(ours).toEqual(toldBy(answer))
    expect(ours).not.toEqual([])
  })

  it.each<[string, object, object]>([
    ['a higher journal number', ended, { ...ended, edge: { ...edge, seq: 9 } }],
    [
      'an attempt more with actions of its own',
      ended,
      { ...ended, edge: { ...edge, attempt: 2, seq: 1, actions: [] } },
    ],
    [
      'a result more, and in another order',
      ended,
      { ...ended, edge: { ...edge, seq: 6, results: [{ ...result, attempt: 2 }, result] } },
    ],
    ['an unknown end that turns out', { ...ended, phase: 'Unknown' }, { ...ended, phase: 'Successful' }],
    [
      'an unknown outcome that turns out',
      { ...ended, attempts: [{ attempt: 1, outcome: 'Unknown' }] },
      ended,
    ],
    ['a retry', ended, { ...ended, phase: 'Pending', attempt: 2 }],
    ['the same again', ended, ended],
    ['a start', { phase: 'Pending' }, { phase: 'InProgress', attempt: 1, stage: 'Prepare' }],
  ])('accepts %s, as the API server does', async (_, before, after) => {
    const { stored, next, answer } = await writeStatus(before, after)
    expect(toldBy(answer)).toEqual([])
    expect(toldByUs(TASK_CRD, next, stored)).toEqual([])
  })

  async function writeStatus(before: object, after: object | undefined) {
    const { metadata, ...rest } = task(uniqueName('task'))
    await call(real, 'POST', TASKS, { body: { ...rest, metadata } })
    const path = `${TASKS}/${metadata.name}/status`
    const patch = { contentType: 'application/merge-patch+json' }
    const first = await call(real, 'PATCH', path, { body: { status: before }, ...patch })
    expect(toldBy(first)).toEqual([])
    const stored = first.body as { metadata: object }
    const next = { ...stored, ...(after === undefined ? {} : { status: after }) }
    const sent = after === undefined ? withoutStatus(next) : next
    return { stored, next: sent, answer: await call(real, 'PUT', path, { body: sent }) }
  }
})

function withoutStatus(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== 'status'))
}
