import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { JOBS, job, MERGE, TASKS, task } from './objects.ts'

const NO_UID = '00000000-0000-4000-8000-000000000000'

describeBoth('both planes on deletion', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('wait for finalizers', planes, async (plane, name) => {
    const path = `${JOBS}/${name}`
    const finalizers = (list: readonly string[] | null) => ({
      body: { metadata: { finalizers: list } },
      contentType: MERGE,
    })
    await plane.call('create', 'POST', JOBS, {
      body: job(name, { metadata: { finalizers: ['upgradehub.io/release', 'example.com/other'] } }),
    })
    await plane.call('delete', 'DELETE', path)
    await plane.call('delete again', 'DELETE', path)
    await plane.call(
      'one more finalizer',
      'PATCH',
      path,
      finalizers(['upgradehub.io/release', 'example.com/new']),
    )
    await plane.call('one less', 'PATCH', path, finalizers(['upgradehub.io/release']))
    await plane.call('a label meanwhile', 'PATCH', path, {
      body: { metadata: { labels: { a: 'b' } } },
      contentType: MERGE,
    })
    await plane.call('none left', 'PATCH', path, finalizers(null))
    await plane.call('gone', 'GET', path)
  })

  itAgrees('hold a deletion to its preconditions', planes, async (plane, name) => {
    const path = `${JOBS}/${name}`
    const { body } = await plane.call('create', 'POST', JOBS, { body: job(name) })
    const { uid, resourceVersion } = (body as { metadata: { uid: string; resourceVersion: string } }).metadata
    const options = (rest: object) => ({
      body: { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions', ...rest },
    })
    await plane.call('another uid', 'DELETE', path, options({ preconditions: { uid: NO_UID } }))
    await plane.prepare('PATCH', path, { body: { metadata: { labels: { a: 'b' } } }, contentType: MERGE })
    await plane.call('an old version', 'DELETE', path, options({ preconditions: { uid, resourceVersion } }))
    await plane.call('an odd policy', 'DELETE', path, options({ propagationPolicy: 'Sometimes' }))
    await plane.call('no options', 'DELETE', path, { body: '{' })
    await plane.call(
      'the right uid',
      'DELETE',
      path,
      options({ preconditions: { uid }, propagationPolicy: 'Background' }),
    )
    await plane.call('gone', 'GET', path)
  })

  itAgrees('collect what a deleted owner leaves', planes, async (plane, name) => {
    const { body } = await plane.prepare('POST', JOBS, { body: job(name) })
    const { uid } = (body as { metadata: { uid: string } }).metadata
    const owner = { apiVersion: 'operations.kubeedge.io/v1alpha2', kind: 'NodeUpgradeJob', name, uid }
    const { metadata, ...rest } = task(`${name}-task`)
    const owned = {
      ...rest,
      metadata: { ...metadata, ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }] },
    }
    await plane.call('owned', 'POST', TASKS, { body: owned })
    await plane.call('delete the owner', 'DELETE', `${JOBS}/${name}`)
    await plane.until('the task is collected', `${TASKS}/${name}-task`, ({ status }) => status === 404)
    await plane.call('gone with it', 'GET', `${TASKS}/${name}-task`)
  })

  itAgrees('collect what names an owner that is another by now', planes, async (plane, name) => {
    await plane.prepare('POST', JOBS, { body: job(name) })
    const stranger = {
      apiVersion: 'operations.kubeedge.io/v1alpha2',
      kind: 'NodeUpgradeJob',
      name,
      uid: NO_UID,
    }
    const { metadata, ...rest } = task(`${name}-task`)
    await plane.call('owned by a stranger', 'POST', TASKS, {
      body: { ...rest, metadata: { ...metadata, ownerReferences: [stranger] } },
    })
    await plane.until('the task is collected', `${TASKS}/${name}-task`, ({ status }) => status === 404)
    await plane.call('the job is left alone', 'GET', `${JOBS}/${name}`)
  })
})
