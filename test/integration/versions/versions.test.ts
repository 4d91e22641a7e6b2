import { nodeUpgradeJobCrd, type StructuralSchema } from '@upgrade-hub/api'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { call, describePlanes, type Plane, uniqueName } from '../../harness/index.ts'
import { type Overrides, ofSchema } from './arbitrary.ts'

interface Job {
  readonly apiVersion: string
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> }
  readonly spec?: Record<string, unknown>
  readonly status?: unknown
}

const DIGEST = fc.stringMatching(/^sha256:[a-f0-9]{64}$/)
const NAMES = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,20}[a-z]$/), { minLength: 1, maxLength: 3 })
const REQUIREMENT = fc.record({
  key: fc.stringMatching(/^[a-z]{1,8}$/),
  operator: fc.constantFrom('In', 'NotIn'),
  values: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 3 }),
})

/** What CEL asks of a spec, and what a word or two of a schema cannot say. */
const OVERRIDES: Overrides = {
  '.spec.version': fc.tuple(fc.nat(30), fc.nat(30), fc.nat(9)).map((parts) => `v${parts.join('.')}`),
  '.spec.image': fc.constantFrom('kubeedge/installation-package', 'r.example.com:5000/a/b:v1', ''),
  '.spec.failureTolerate': fc.constantFrom('', '0', '0.25', '1'),
  '.spec.checkItems[]': fc.constantFrom('cpu', 'mem', 'disk'),
  '.spec.concurrency': fc.nat(10_000),
  '.spec.timeoutSeconds': fc.nat(604_800),
  '.spec.upgradeTool': fc.constantFrom('', 'keadm'),
  '.spec.imageDigestGatter': fc.record({ amd64: DIGEST, arm64: DIGEST, value: DIGEST }, { requiredKeys: [] }),
  '.spec.nodeNames': NAMES,
  '.spec.labelSelector': fc.record({
    matchExpressions: fc.array(REQUIREMENT, { minLength: 1, maxLength: 2 }),
  }),
  '.spec.upgradeHub.exclude.labelSelector': fc.record({
    matchExpressions: fc.array(REQUIREMENT, { maxLength: 2 }),
  }),
  '.spec.upgradeHub.digests{}': fc.constantFrom('linux/amd64', 'linux/arm64', 'linux/arm/v7'),
}
const SCHEMA = (nodeUpgradeJobCrd.spec.versions[0]?.schema.openAPIV3Schema.properties ?? {}) as Record<
  string,
  StructuralSchema
>
const part = (name: string) => ofSchema(SCHEMA[name] ?? {}, OVERRIDES, `.${name}`)
const SPECS = fc
  .tuple(part('spec'), fc.boolean(), NAMES, part('spec'))
  .map(([spec, byName, nodeNames]) => oneSelection(spec as Record<string, unknown>, byName, nodeNames))
const VERSIONS = fc.constantFrom('v1alpha1', 'v1alpha2')

/** Either the names or the selector, and a version: without them no spec is one. */
function oneSelection(spec: Record<string, unknown>, byName: boolean, nodeNames: string[]): object {
  const { labelSelector } = spec
  const rest = Object.entries(spec).filter(([key]) => key !== 'nodeNames' && key !== 'labelSelector')
  const selection = byName || !labelSelector ? { nodeNames } : { labelSelector }
  return { version: 'v1.2.3', ...Object.fromEntries(rest), ...selection }
}

function pathOf(version: string, name = '', subresource = ''): string {
  const parts = ['/apis/operations.kubeedge.io', version, 'nodeupgradejobs', name, subresource]
  return parts.filter(Boolean).join('/')
}

async function ok(
  plane: Plane,
  ...args: Parameters<typeof call> extends [unknown, ...infer R] ? R : never
): Promise<Job> {
  const { status, body } = await call(plane, ...args)
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body as Job
}

describePlanes('a job that is written in one version and read in another', (plane) => {
  it('loses nothing of its spec, control and status, whichever version is used for what', async () => {
    const sample = fc.tuple(SPECS, part('control'), part('status'), VERSIONS, VERSIONS, VERSIONS)
    await fc.assert(
      fc.asyncProperty(sample, async ([spec, control, status, first, second, third]) => {
        const name = uniqueName('versions')
        const sent = {
          apiVersion: `operations.kubeedge.io/${first}`,
          kind: 'NodeUpgradeJob',
          metadata: { name },
          spec,
          control,
        }
        const created = await call(plane, 'POST', pathOf(first), { body: sent })
        // Rules between fields, such as one kind of probe at a time, are not in the schema that samples are made of.
        fc.pre(created.status !== 422)
        expect(created.status, JSON.stringify(created.body)).toBe(201)
        const read = await ok(plane, 'GET', pathOf(second, name))
        expect(read).toMatchObject({ spec, control })
        const labelled = { ...read, metadata: { ...read.metadata, labels: { touched: 'true' } } }
        await ok(plane, 'PUT', pathOf(second, name), { body: labelled })
        const told = { body: { status }, contentType: 'application/merge-patch+json' }
        await ok(plane, 'PATCH', pathOf(third, name, 'status'), told)
        for (const version of ['v1alpha1', 'v1alpha2']) {
          const { apiVersion, ...last } = await ok(plane, 'GET', pathOf(version, name))
          expect(apiVersion).toBe(`operations.kubeedge.io/${version}`)
          expect(last).toMatchObject({
            spec: read.spec,
            control,
            status,
            metadata: { labels: { touched: 'true' } },
          })
        }
        await ok(plane, 'DELETE', pathOf(first, name))
      }),
      { numRuns: 40 },
    )
  })
})
