import { invalid, required } from '../cause.ts'
import { child, index } from '../path.ts'
import type { Cause, Crd, CrdNames } from '../types.ts'

const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** What is wrong with a DNS-1035 label, in Kubernetes' words; `''` for a good one. */
export function labelProblem(value: string): string {
  const long = value.length > 63 ? ['must be no more than 63 bytes'] : []
  const shape = LABEL.test(value)
    ? []
    : [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ]
  return [...long, ...shape].join(',')
}

function subdomainProblem(value: string): string {
  if (value.length > 253) return 'must be no more than 253 bytes'
  if (SUBDOMAIN.test(value)) return ''
  return "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
}

export function groupCauses(group: string): readonly Cause[] {
  if (group === '') return [required('spec.group')]
  const problem = subdomainProblem(group)
  if (problem !== '') return [invalid('spec.group', group, problem)]
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')]
}

function labelCauses(path: string, value: string | undefined, mixedCase: boolean): readonly Cause[] {
  if (value === undefined || value === '') return [required(path)]
  const problem = labelProblem(mixedCase ? value.toLowerCase() : value)
  if (problem === '') return []
  return [
    invalid(path, value, mixedCase ? `may have mixed case, but should otherwise match: ${problem}` : problem),
  ]
}

function eachLabel(path: string, values: readonly string[] = []): readonly Cause[] {
  return values.flatMap((value, i) => labelCauses(index(path, i), value, false))
}

/** The names of a CRD after defaulting. */
export function nameCauses(names: CrdNames): readonly Cause[] {
  const at = (name: string) => child('spec.names', name)
  const same = names.kind !== '' && names.kind === names.listKind
  return [
    ...labelCauses(at('plural'), names.plural, false),
    ...labelCauses(at('singular'), names.singular, false),
    ...labelCauses(at('kind'), names.kind, true),
    ...labelCauses(at('listKind'), names.listKind, true),
    ...eachLabel(at('shortNames'), names.shortNames),
    ...eachLabel(at('categories'), names.categories),
    ...(same ? [invalid(at('listKind'), names.listKind ?? '', 'kind and listKind may not be the same')] : []),
  ]
}

/** The name of the object, which is made of plural and group. */
export function metadataCauses({ metadata, spec }: Crd): readonly Cause[] {
  const expected = `${spec.names.plural}.${spec.group}`
  if (metadata.name === expected) return []
  return [invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group')]
}
