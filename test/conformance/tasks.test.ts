import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { JSON_PATCH, MERGE, TASKS, task } from './objects.ts'

const result = { attempt: 1, outcome: 'Succeeded', from: 'v1.11.0', to: 'v1.12.0' }
const edge = { attempt: 1, seq: 5, actions: [{ action: 'Check', succ: true }], results: [result] }

describeBoth('both planes on tasks', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('start a task as pending and refuse what goes back', planes, async (plane, name) => {
    const path = `${TASKS}/${name}`
    const status = async (title: string, body: object) =>
      plane.call(title, 'PATCH', `${path}/status`, { body: { status: body }, contentType: MERGE })
    await plane.call('create', 'POST', TASKS, { body: task(name) })
    await status('start', { phase: 'InProgress', attempt: 1, active: 'true', stage: 'Prepare' })
    await status('the edge speaks', { edge })
    await status('an older number', { edge: { seq: 4 } })
    await status('an older attempt', { edge: { attempt: 0 } })
    await status('a result changed', { edge: { results: [{ ...result, outcome: 'RolledBack' }] } })
    await status('a result unsaid', { edge: { results: null } })
    await status('the edge unsaid', { edge: null })
    await status('a result twice', { edge: { results: [result, result] } })
    await status('an end', { phase: 'Failure', attempts: [{ attempt: 1, outcome: 'Failed' }], active: '' })
    await status('an end undone', { phase: 'InProgress' })
    await status('two at once', { phase: 'InProgress', attempt: 0, edge: { seq: 1 } })
    await status('a retry', { phase: 'Pending', attempt: 2 })
    await status('too many actions', {
      edge: { actions: Array.from({ length: 13 }, () => ({ action: 'Check' })) },
    })
    await status('too long a log', { edge: { logTail: 'x'.repeat(8193) } })
    await status('an unknown phase', { phase: 'Done' })
    await status('everything unsaid', {})
    await plane.call('no status', 'PATCH', `${path}/status`, { body: { status: null }, contentType: MERGE })
    await plane.call('read', 'GET', path)
  })

  itAgrees('never change what is to be done', planes, async (plane, name) => {
    const path = `${TASKS}/${name}`
    await plane.call('create', 'POST', TASKS, { body: task(name) })
    await plane.call('another node', 'PATCH', path, {
      body: { spec: { nodeName: 'edge-2' } },
      contentType: MERGE,
    })
    await plane.call('a field less', 'PATCH', path, {
      body: [{ op: 'remove', path: '/spec/nodeUID' }],
      contentType: JSON_PATCH,
    })
    await plane.call('no spec', 'PATCH', path, { body: { spec: null }, contentType: MERGE })
    await plane.call('a label', 'PATCH', path, {
      body: { metadata: { labels: { 'upgradehub.io/job-uid': 'u-1' } } },
      contentType: MERGE,
    })
    await plane.call('a finalizer', 'PATCH', path, {
      body: { metadata: { finalizers: ['upgradehub.io/release'] } },
      contentType: MERGE,
    })
    await plane.call('incomplete', 'POST', TASKS, { body: { ...task(`${name}-2`), spec: { jobName: 'x' } } })
  })

  itAgrees('select tasks by field and label', planes, async (plane, name) => {
    const jobName = `${name}-job`
    for (const [i, node] of ['edge-1', 'edge-2', 'edge-3'].entries()) {
      const { metadata, spec, ...rest } = task(`${name}-${i}`, `${name}-${node}`)
      const labels = { 'upgradehub.io/job-name': jobName, index: String(i) }
      await plane.prepare('POST', TASKS, {
        body: { ...rest, metadata: { ...metadata, labels }, spec: { ...spec, jobName } },
      })
    }
    await plane.prepare('PATCH', `${TASKS}/${name}-1/status`, {
      body: { status: { phase: 'InProgress', active: 'true' } },
      contentType: MERGE,
    })
    const select = async (query: string) =>
      plane.call('select', 'GET', `${TASKS}?labelSelector=upgradehub.io/job-name%3D${jobName}&${query}`)
    await select('')
    await select('fieldSelector=status.phase%3DInProgress')
    await select('fieldSelector=status.active%3Dtrue')
    await select('fieldSelector=status.active!%3Dtrue')
    await select(`fieldSelector=spec.nodeName%3D${name}-edge-2,status.phase%3DPending`)
    await select(`fieldSelector=spec.jobName%3D${jobName}`)
    await select(`fieldSelector=metadata.name%3D${name}-2`)
    await select('fieldSelector=spec.image%3Dx')
    await select('fieldSelector=nonsense')
    const labels = async (selector: string) =>
      plane.call(
        'labels',
        'GET',
        `${TASKS}?fieldSelector=spec.jobName%3D${jobName}&labelSelector=${encodeURIComponent(selector)}`,
      )
    for (const selector of [
      'index=1',
      'index!=1',
      'index in (0,2)',
      'index notin (0)',
      'index',
      '!index',
      'index>0',
      'index,index=2',
      'a b',
      'index in (',
    ]) {
      await labels(selector)
    }
  })
})
