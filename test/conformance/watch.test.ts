import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { JOBS, job, MERGE, TASKS, task } from './objects.ts'

describeBoth('both planes on watches', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('tell of what is there and of every change, in order', planes, async (plane, name) => {
    await plane.prepare('POST', JOBS, { body: job(`${name}-0`, { metadata: { labels: { w: name } } }) })
    await plane.watch('from the start', `${JOBS}?watch=true&labelSelector=w%3D${name}&timeoutSeconds=30`, {
      until: `${name}-end`,
      act: async () => {
        await plane.prepare('POST', JOBS, { body: job(`${name}-1`, { metadata: { labels: { w: name } } }) })
        await plane.prepare('PATCH', `${JOBS}/${name}-1`, {
          body: { control: { paused: true } },
          contentType: MERGE,
        })
        await plane.prepare('PATCH', `${JOBS}/${name}-1/status`, {
          body: { status: { phase: 'InProgress' } },
          contentType: MERGE,
        })
        await plane.prepare('PATCH', `${JOBS}/${name}-1/status`, {
          body: { status: { phase: 'InProgress' } },
          contentType: MERGE,
        })
        await plane.prepare('DELETE', `${JOBS}/${name}-1`)
        await plane.prepare('POST', JOBS, { body: job(`${name}-end`, { metadata: { labels: { w: name } } }) })
      },
    })
  })

  itAgrees('tell of what comes into a selection and what leaves it', planes, async (plane, name) => {
    const active = (value: string) => ({ body: { status: { active: value } }, contentType: MERGE })
    const { body } = await plane.prepare('GET', TASKS)
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata
    const path = `${TASKS}?watch=true&fieldSelector=status.active%3Dtrue&resourceVersion=${resourceVersion}`
    await plane.watch('selected', path, {
      until: `${name}-end`,
      act: async () => {
        await plane.prepare('POST', TASKS, { body: task(name) })
        await plane.prepare('PATCH', `${TASKS}/${name}/status`, active('true'))
        await plane.prepare('PATCH', `${TASKS}/${name}/status`, {
          body: { status: { message: 'goes on' } },
          contentType: MERGE,
        })
        await plane.prepare('PATCH', `${TASKS}/${name}/status`, active(''))
        await plane.prepare('PATCH', `${TASKS}/${name}/status`, active('true'))
        await plane.prepare('DELETE', `${TASKS}/${name}`)
        await plane.prepare('POST', TASKS, { body: task(`${name}-end`) })
        await plane.prepare('PATCH', `${TASKS}/${name}-end/status`, active('true'))
      },
    })
  })

  itAgrees('send the list first where it is asked for, and mark its end', planes, async (plane, name) => {
    for (const i of [1, 2])
      await plane.prepare('POST', JOBS, { body: job(`${name}-${i}`, { metadata: { labels: { w: name } } }) })
    const query =
      'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'
    await plane.watch('list and watch', `${JOBS}?${query}&labelSelector=w%3D${name}`, {
      until: `${name}-end`,
      act: async () => {
        await plane.prepare('POST', JOBS, { body: job(`${name}-end`, { metadata: { labels: { w: name } } }) })
      },
    })
  })

  itAgrees('say that a version is gone', planes, async (plane, name) => {
    await plane.watch('long ago', `${JOBS}?watch=true&resourceVersion=1`, {
      until: name,
      act: async () => {},
    })
    await plane.call('a version that is none', 'GET', `${JOBS}?watch=true&resourceVersion=abc`)
    await plane.call('initial events without a match', 'GET', `${JOBS}?watch=true&sendInitialEvents=true`)
  })
})
