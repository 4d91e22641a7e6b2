import { describe, expect, it } from 'vitest'
import { CRDS } from './crds.ts'
import { crdFile, renderCrd, storedCrd } from './generate.ts'

describe('the CRDs in manifests/crds', () => {
  it.each(CRDS.map((crd) => [crdFile(crd), crd] as const))('%s says what the schemas say', (_file, crd) => {
    expect(storedCrd(crd), 'run `npm run gen` and commit the result').toBe(renderCrd(crd))
  })
})
