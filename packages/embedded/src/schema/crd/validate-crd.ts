import { isDeepStrictEqual } from 'node:util'
import { invalid, notSupported, OMIT, required } from '../cause.ts'
import { index } from '../path.ts'
import type { Cause, Crd, JsonSchema } from '../types.ts'
import { groupCauses, metadataCauses, nameCauses } from './names.ts'
import { schemaCauses } from './schema-causes.ts'
import { versionCauses, versionSchemaCauses } from './version.ts'

/** Fills what a CRD may leave out: singular, list kind and conversion (apiextensions/v1 defaults). */
export function defaultCrd(crd: Crd): Crd {
  const { names, conversion } = crd.spec
  return {
    ...crd,
    spec: {
      ...crd.spec,
      names: {
        ...names,
        singular: names.singular || names.kind.toLowerCase(),
        listKind: names.listKind || (names.kind && `${names.kind}List`),
      },
      conversion: conversion ?? { strategy: 'None' },
    },
  }
}

function scopeCauses(scope: string): readonly Cause[] {
  if (scope === '') return [required('spec.scope')]
  const scopes = ['Cluster', 'Namespaced']
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)]
}

/**
 * An API server moves what all versions say alike to the top of the spec, and looks at it there once: `spec.validation`
 * is then where a cause points.
 */
function sharedSchema({ spec }: Crd): JsonSchema | undefined {
  const [first, ...rest] = spec.versions.map((version) => version.schema?.openAPIV3Schema)
  const same = (schema: JsonSchema | undefined) => isDeepStrictEqual(schema, first)
  return first !== undefined && rest.every(same) ? first : undefined
}

function versionsCauses(crd: Crd): readonly Cause[] {
  const { versions } = crd.spec
  const shared = sharedSchema(crd)
  const unique = new Set(versions.map((v) => v.name)).size === versions.length
  const stored = versions.filter((v) => v.storage).length
  const says = (why: string) => invalid('spec.versions', OMIT, why)
  return [
    ...(shared === undefined ? [] : schemaCauses(shared, 'spec.validation.openAPIV3Schema')),
    ...versions.flatMap((version, i) => {
      const path = index('spec.versions', i)
      return [
        ...(shared === undefined ? versionSchemaCauses(version, path) : []),
        ...versionCauses(version, path),
      ]
    }),
    ...(unique ? [] : [says('must contain unique version names')]),
    ...(stored === 1 ? [] : [says('must have exactly one version marked as storage version')]),
  ]
}

/** Conversion by webhook is not served: every version of a CRD must have schemas that need none. */
function conversionCauses({ spec }: Crd): readonly Cause[] {
  const strategy = spec.conversion?.strategy ?? 'None'
  return strategy === 'None' ? [] : [notSupported('spec.conversion.strategy', strategy, ['None'])]
}

function immutableCauses(crd: Crd, old: Crd | undefined): readonly Cause[] {
  if (old === undefined) return []
  const pairs = [
    ['spec.scope', crd.spec.scope, old.spec.scope],
    ['spec.names.kind', crd.spec.names.kind, old.spec.names.kind],
    ['spec.group', crd.spec.group, old.spec.group],
    ['spec.names.plural', crd.spec.names.plural, old.spec.names.plural],
  ] as const
  return pairs.flatMap(([field, now, before]) =>
    now === before ? [] : [invalid(field, now, 'field is immutable')],
  )
}

/**
 * Every problem of a CRD that has its defaults (`defaultCrd`), with the messages of an API server where it has such.
 * What is not looked at: the estimated cost of rules, stored versions and the approval of protected groups.
 */
export function validateCrd(crd: Crd, old?: Crd): readonly Cause[] {
  return [
    ...metadataCauses(crd),
    ...groupCauses(crd.spec.group),
    ...scopeCauses(crd.spec.scope),
    ...versionsCauses(crd),
    ...nameCauses(crd.spec.names),
    ...conversionCauses(crd),
    ...immutableCauses(crd, old),
  ]
}
