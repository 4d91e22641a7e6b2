import { describe, expect, it } from 'vitest'
import { CRDS } from './crds.ts'
import { crdFile, renderCrd, storedCrd, storedReference } from './generate.ts'
import { renderReference } from './reference.ts'
import type { StructuralSchema } from './structural.ts'

describe('the CRDs in manifests/crds', () => {
  it.each(CRDS.map((crd) => [crdFile(crd), crd] as const))('%s says what the schemas say', (_file, crd) => {
    expect(storedCrd(crd), 'run `npm run gen` and commit the result').toBe(renderCrd(crd))
  })
})

describe('docs/api.md', () => {
  it('says what the schemas say', () => {
    expect(storedReference(), 'run `npm run gen` and commit the result').toBe(renderReference())
  })
})

/** The path of every field without words of its own. */
function* mute(schema: StructuralSchema, at: string): Generator<string> {
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const path = `${at}.${name}`
    if (!child.description) yield path
    yield* mute(child, path)
    if (child.items) yield* mute(child.items, `${path}[]`)
  }
}

describe('kubectl explain', () => {
  it.each(CRDS.map((crd) => [crd.spec.names['kind'], crd] as const))(
    'has words for every field of %s',
    (_, crd) => {
      for (const { schema } of crd.spec.versions) {
        const { metadata: __, ...parts } = schema.openAPIV3Schema.properties ?? {}
        expect([...mute({ properties: parts }, '')]).toEqual([])
      }
    },
  )

  it('names the default or the unit of what an operator sets', () => {
    const spec = CRDS[0]?.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']
    const ours = Object.entries(spec?.properties?.['upgradeHub']?.properties ?? {})
    const silent = ours.filter(
      ([, { description = '', type }]) => type !== 'object' && !/default/i.test(description),
    )
    expect(silent).toEqual([])
  })
})
