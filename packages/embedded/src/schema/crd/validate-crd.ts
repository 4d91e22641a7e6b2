import { isDeepStrictEqual } from 'node:util'
import { invalid, notSupported, OMIT, required, type Shown } from '../cause.ts'
import { index } from '../path.ts'
import type { Cause, Crd, CrdVersion } from '../types.ts'
import { groupCauses, labelProblem, metadataCauses, nameCauses } from './names.ts'
import { columnsCauses, deprecationCauses, selectableCauses, versionSchemaCauses } from './version.ts'

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

type Check = (version: CrdVersion, path: string) => readonly Cause[]

/**
 * Checks a part of the versions. An API server moves what all versions say alike to the top of the spec and looks at it
 * there once; `spec` is then where a cause points.
 */
function partCauses({ spec }: Crd, part: keyof CrdVersion, check: Check): readonly Cause[] {
  const [first] = spec.versions
  const alike = spec.versions.every((version) => isDeepStrictEqual(version[part], first?.[part]))
  if (first?.[part] !== undefined && alike) return check(first, 'spec')
  return spec.versions.flatMap((version, i) => check(version, index('spec.versions', i)))
}

function storageCauses({ spec }: Crd): readonly Cause[] {
  const stored = spec.versions.filter((v) => v.storage).length
  const shown: Shown = spec.versions.length === 0 ? [] : OMIT
  const one = invalid('spec.versions', shown, 'must have exactly one version marked as storage version')
  const none = invalid('status.storedVersions', null, 'must have at least one stored version')
  if (stored === 1) return []
  return stored === 0 ? [one, none] : [one]
}

function versionNameCauses({ spec }: Crd): readonly Cause[] {
  const names = spec.versions.map((v) => v.name)
  const problems = names.flatMap((name, i) => {
    const problem = labelProblem(name)
    const first = i === 0 ? ['spec.version'] : []
    const fields = problem === '' ? [] : [...first, `${index('spec.versions', i)}.name`]
    return fields.map((field) => invalid(field, name, problem))
  })
  const unique = new Set(names).size === names.length
  return unique
    ? problems
    : [...problems, invalid('spec.versions', OMIT, 'must contain unique version names')]
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
    ...partCauses(crd, 'schema', versionSchemaCauses),
    ...partCauses(crd, 'additionalPrinterColumns', columnsCauses),
    ...partCauses(crd, 'selectableFields', selectableCauses),
    ...partCauses(crd, 'deprecationWarning', deprecationCauses),
    ...versionNameCauses(crd),
    ...storageCauses(crd),
    ...nameCauses(crd.spec.names),
    ...conversionCauses(crd),
    ...immutableCauses(crd, old),
  ]
}
