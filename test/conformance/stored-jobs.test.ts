import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { describeBoth } from '../harness/index.ts'
import { itAgrees } from './compare.ts'
import { storedJobs } from './job-cases.ts'
import { CRDS, MERGE } from './objects.ts'
import type { Recorder } from './recorder.ts'

const GROUP = 'stored.upgradehub.io'
const PLURAL = `${CRDS}/nodeupgradejobs.${GROUP}`

interface Definition {
  metadata: { name: string }
  spec: { group: string; names: Record<string, unknown>; versions: { schema: unknown }[] }
}

/** Our job kind in a group of its own, so that the planes' real one stays as it is. */
function definition(): Definition {
  const file = new URL('../../manifests/crds/nodeupgradejobs.operations.kubeedge.io.yaml', import.meta.url)
  const crd = parse(readFileSync(fileURLToPath(file), 'utf8')) as Definition
  const names = { ...crd.spec.names, shortNames: [], categories: [] }
  return {
    ...crd,
    metadata: { name: `nodeupgradejobs.${GROUP}` },
    spec: { ...crd.spec, group: GROUP, names },
  }
}

/** The kind as KubeEdge might have had it: anything goes. */
function loose(): Definition {
  const crd = definition()
  const open = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const versions = crd.spec.versions.map((version) => ({ ...version, schema: open }))
  return { ...crd, spec: { ...crd.spec, versions } }
}

const isStrict = (body: unknown) => JSON.stringify(body).includes('spec fields are not allowed to update')

/** Stores the jobs under the loose kind and then tightens it, as an installation over KubeEdge does. */
async function storeAndTighten(plane: Recorder, jobs: readonly { metadata: { name: string } }[], at: string) {
  await plane.prepare('POST', CRDS, { body: loose() })
  await plane.until('the loose kind is served', at, ({ status }) => status === 200)
  for (const job of jobs) {
    const body = { ...job, apiVersion: `${GROUP}/v1alpha2` }
    await plane.prepare('POST', at, { body })
    if ('status' in job)
      await plane.prepare('PATCH', `${at}/${job.metadata.name}/status`, {
        body: { status: job.status },
        contentType: MERGE,
      })
  }
  const { body } = await plane.prepare('GET', PLURAL)
  const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata
  const strict = definition()
  await plane.prepare('PUT', PLURAL, {
    body: { ...strict, metadata: { ...strict.metadata, resourceVersion } },
  })
  await plane.until('the strict schema is served', `/openapi/v3/apis/${GROUP}/v1alpha2`, ({ body }) =>
    isStrict(body),
  )
}

describeBoth('both planes on stored jobs of the worst kind', (embedded, real) => {
  itAgrees(
    'let them be read, labelled, freed and deleted, and never changed',
    { embedded, real },
    async (plane, name) => {
      const at = `/apis/${GROUP}/v1alpha2/nodeupgradejobs`
      const jobs = storedJobs(name)
      try {
        await storeAndTighten(plane, jobs, at)
        for (const { metadata } of jobs) {
          const path = `${at}/${metadata.name}`
          const patch = async (title: string, status: number, at: string, body: object) => {
            const answer = await plane.call(title, 'PATCH', at, { body, contentType: MERGE })
            expect(answer.status, title).toBe(status)
          }
          await plane.call('read', 'GET', path)
          await plane.call('read in the other version', 'GET', path.replace('v1alpha2', 'v1alpha1'))
          await patch('label', 200, path, { metadata: { labels: { a: 'b' } } })
          await patch('say something of it', 200, `${path}/status`, { status: { reason: 'not ours' } })
          await patch('change', 422, path, { spec: { version: 'v1.13.0' } })
          await patch('change another part', 422, path, { spec: { upgradeHub: { isolation: 'None' } } })
          await plane.call('delete', 'DELETE', path)
          if (metadata.finalizers) await patch('free', 200, path, { metadata: { finalizers: null } })
          await plane.call('gone', 'GET', path)
        }
      } finally {
        await plane.prepare('DELETE', PLURAL)
      }
    },
  )
})
