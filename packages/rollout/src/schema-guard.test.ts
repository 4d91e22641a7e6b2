import { nodeUpgradeJobCrd as ours } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { isOurSchema } from './schema-guard.ts'

const status = { properties: { phase: {}, reason: {}, nodeStatus: {} } }
const kubeEdge = {
  spec: {
    versions: ['v1alpha1', 'v1alpha2'].map((name) => ({
      name,
      served: true,
      schema: { openAPIV3Schema: { properties: { spec: { properties: { version: {} } }, status } } },
    })),
  },
}

describe('isOurSchema', () => {
  it('knows our own definition', () => {
    expect(isOurSchema(ours)).toBe(true)
  })

  it('knows that of KubeEdge, one that is half ours, and none at all for another', () => {
    expect(isOurSchema(kubeEdge)).toBe(false)
    expect(isOurSchema({ spec: { versions: [...ours.spec.versions, ...kubeEdge.spec.versions] } })).toBe(
      false,
    )
    expect(isOurSchema({ spec: { versions: [] } })).toBe(false)
    expect(isOurSchema(undefined)).toBe(false)
  })
})
