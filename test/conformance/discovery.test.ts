import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { JOBS } from './objects.ts'

describeBoth('both planes on what they are', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('list the resources of our groups', planes, async (plane) => {
    await plane.call('resources of jobs', 'GET', '/apis/operations.kubeedge.io/v1alpha2')
    await plane.call('resources of jobs', 'GET', '/apis/operations.kubeedge.io/v1alpha1')
    await plane.call('resources of tasks', 'GET', '/apis/upgradehub.io/v1alpha1')
    await plane.call('group', 'GET', '/apis/operations.kubeedge.io')
    await plane.call('group', 'GET', '/apis/upgradehub.io')
  })

  itAgrees('know who asks and what it may', planes, async (plane) => {
    const review = (resourceAttributes: object) => ({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    })
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const attributes = { verb: 'create', group: 'operations.kubeedge.io', resource: 'nodeupgradejobs' }
    await plane.call('an administrator', 'POST', path, { body: review(attributes) })
    await plane.call('nobody in particular', 'GET', JOBS, { as: 'nobody' })
  })

  itAgrees('are healthy', planes, async (plane) => {
    await plane.call('live', 'GET', '/livez')
    await plane.call('ready', 'GET', '/readyz')
    await plane.call('healthy', 'GET', '/healthz')
  })
})
