import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { JOBS, JOBS_V1ALPHA1, job, MERGE } from './objects.ts'
import type { Recorder } from './recorder.ts'
import { startWebhook, type Verdict, type WebhookServer } from './webhook-server.ts'

const VALIDATING = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const MUTATING = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'
const NOT_ON_STATUS =
  "request.operation == 'CREATE' || object.?spec != oldObject.?spec || object.?control != oldObject.?control"

/** A configuration that asks the webhook about the jobs of one test only. */
function configuration(
  kind: 'Validating' | 'Mutating',
  name: string,
  webhook: WebhookServer,
  rest: object = {},
) {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: [
      {
        name: `${name}.conformance.upgradehub.io`,
        clientConfig: { url: `${webhook.url}/x`, caBundle: webhook.caBundle },
        rules: [
          {
            apiGroups: ['operations.kubeedge.io'],
            apiVersions: ['v1alpha2'],
            resources: ['nodeupgradejobs'],
            operations: ['CREATE', 'UPDATE'],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 5,
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        objectSelector: { matchLabels: { webhook: name } },
        ...rest,
      },
    ],
  }
}

const labelled = (name: string, rest: object = {}) =>
  job(name, { metadata: { labels: { webhook: name } }, ...rest })

interface Setting {
  readonly plane: Recorder
  readonly webhook: WebhookServer
}

/** Runs a script while a webhook is asked, and records what it was asked. */
async function whileAsked(
  { plane, name, verdict }: { plane: Recorder; name: string; verdict: Verdict },
  configure: (webhook: WebhookServer) => { path: string; body: object },
  script: (setting: Setting) => Promise<void>,
): Promise<void> {
  const webhook = await startWebhook(verdict)
  const { path, body } = configure(webhook)
  try {
    await plane.prepare('POST', path, { body })
    await plane.asked(
      'the webhook is asked',
      webhook,
      labelled(name, { metadata: { name: `${name}-probe`, labels: { webhook: name } } }),
    )
    await script({ plane, webhook })
    plane.note(
      'what the webhook was asked',
      webhook.reviews.filter(({ request }) => !request.name?.endsWith('-probe')),
    )
  } finally {
    await plane.prepare('DELETE', `${path}/${name}`)
    await webhook.stop()
  }
}

describeBoth('both planes on admission webhooks', (embedded, real) => {
  const planes = { embedded, real }

  itAgrees('ask a validating webhook and do what it says', planes, async (plane, name) => {
    const verdict: Verdict = ({ request }) =>
      request.name?.endsWith('-bad')
        ? {
            allowed: false,
            status: {
              code: 422,
              message: 'not this one',
              reason: 'Invalid',
              details: { causes: [{ field: 'spec', message: 'no', reason: 'FieldValueInvalid' }] },
            },
            warnings: ['mind it'],
          }
        : { allowed: true, warnings: ['take care'] }
    const configure = (webhook: WebhookServer) => ({
      path: VALIDATING,
      body: configuration('Validating', name, webhook, {
        matchConditions: [{ name: 'not-on-status', expression: NOT_ON_STATUS }],
      }),
    })
    await whileAsked({ plane, name, verdict }, configure, async () => {
      const path = `${JOBS}/${name}`
      const patch = (body: object) => ({ body, contentType: MERGE })
      await plane.call('create', 'POST', JOBS, { body: labelled(name) })
      await plane.call('create a bad one', 'POST', JOBS, {
        body: labelled(`${name}-bad`, { metadata: { name: `${name}-bad`, labels: { webhook: name } } }),
      })
      await plane.call('create one that rules refuse first', 'POST', JOBS, {
        body: labelled(`${name}-x`, { spec: {}, metadata: { name: `${name}-x`, labels: { webhook: name } } }),
      })
      await plane.call('dry run', 'POST', `${JOBS}?dryRun=All`, {
        body: labelled(`${name}-dry`, { metadata: { name: `${name}-dry`, labels: { webhook: name } } }),
      })
      await plane.call('a label', 'PATCH', path, patch({ metadata: { labels: { a: 'b' } } }))
      await plane.call('a control', 'PATCH', path, patch({ control: { paused: true } }))
      await plane.call('a status', 'PATCH', `${path}/status`, patch({ status: { phase: 'InProgress' } }))
      await plane.call(
        'by the other version',
        'PATCH',
        `${JOBS_V1ALPHA1}/${name}`,
        patch({ control: { paused: false } }),
      )
      await plane.call('delete', 'DELETE', path)
      await plane.call('a stranger', 'POST', JOBS, { body: job(`${name}-stranger`) })
    })
  })

  itAgrees('let a mutating webhook change an object', planes, async (plane, name) => {
    const patch = [
      { op: 'add', path: '/metadata/labels/stamped', value: 'yes' },
      { op: 'add', path: '/control', value: { paused: true, unknown: 1 } },
    ]
    const verdict: Verdict = () => ({
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
    })
    const configure = (webhook: WebhookServer) => ({
      path: MUTATING,
      body: configuration('Mutating', name, webhook, {
        rules: [
          {
            apiGroups: ['operations.kubeedge.io'],
            apiVersions: ['v1alpha2'],
            resources: ['nodeupgradejobs'],
            operations: ['CREATE'],
          },
        ],
      }),
    })
    await whileAsked({ plane, name, verdict }, configure, async () => {
      await plane.call('create', 'POST', JOBS, { body: labelled(name) })
      await plane.call('read', 'GET', `${JOBS}/${name}`)
    })
  })

  itAgrees('mind the failure policy when nobody answers', planes, async (plane, name) => {
    const webhook = await startWebhook(() => ({ allowed: true }))
    await webhook.stop()
    const fail = configuration('Validating', name, webhook)
    await plane.prepare('POST', VALIDATING, { body: fail })
    try {
      const probe = labelled(name, { metadata: { name: `${name}-probe`, labels: { webhook: name } } })
      await plane.refused('the webhook is missed', probe)
      await plane.call('fail', 'POST', JOBS, { body: labelled(name) })
      await plane.prepare('PATCH', `${VALIDATING}/${name}`, {
        body: [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' }],
        contentType: 'application/json-patch+json',
      })
      await plane.accepted('the policy has changed', probe)
      await plane.call('ignore', 'POST', JOBS, { body: labelled(name) })
    } finally {
      await plane.prepare('DELETE', `${VALIDATING}/${name}`)
    }
  })

  itAgrees('refuse configurations alike', planes, async (plane, name) => {
    const webhook = { url: 'https://127.0.0.1:1', caBundle: '', reviews: [], stop: async () => {} }
    const bad = async (title: string, rest: object) =>
      plane.call(title, 'POST', `${VALIDATING}?dryRun=All`, {
        body: configuration('Validating', name, webhook, rest),
      })
    await bad('a good one, with its defaults', { caBundle: undefined })
    await bad('side effects unknown', { sideEffects: 'Some' })
    await bad('no review version', { admissionReviewVersions: [] })
    await bad('a long wait', { timeoutSeconds: 31 })
    await bad('plain HTTP', { clientConfig: { url: 'http://127.0.0.1/x' } })
    await bad('neither url nor service', { clientConfig: {} })
    await bad('an odd policy', { failurePolicy: 'Maybe' })
    await bad('a condition that does not compile', {
      matchConditions: [{ name: 'a', expression: 'object ==' }],
    })
    await bad('a condition twice', {
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'true' },
      ],
    })
    await bad('no operation', {
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: [] }],
    })
  })
})
