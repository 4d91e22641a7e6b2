import { badRequest, invalidOptions, StatusError } from '../errors.ts'
import { forbiddenValue, unsupportedValue } from '../names.ts'
import type { Cause } from '../schema/index.ts'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldValidation: FieldValidation
}

const VALIDATIONS: readonly string[] = ['', 'Ignore', 'Strict', 'Warn']

/** `dryRun` and `fieldValidation` of a write; `kind` is what they are called in a refusal. Throws 422. */
export function writeOptions(query: URLSearchParams, kind: string): WriteOptions {
  const dryRun = query.getAll('dryRun')
  const validation = query.get('fieldValidation') ?? ''
  const causes: Cause[] = [
    ...dryRunCauses(dryRun),
    ...(VALIDATIONS.includes(validation)
      ? []
      : [unsupportedValue('fieldValidation', JSON.stringify(validation), VALIDATIONS)]),
  ]
  if (causes.length > 0) throw invalidOptions(kind, causes)
  return { dryRun: dryRun.length > 0, fieldValidation: (validation || 'Warn') as FieldValidation }
}

export function dryRunCauses(values: readonly string[]): readonly Cause[] {
  if (values.every((value) => value === 'All')) return []
  return [unsupportedValue('dryRun', JSON.stringify(values), ['All'])]
}

export interface ListOptions {
  readonly labelSelector: string
  readonly fieldSelector: string
  /** Undefined when not given. */
  readonly resourceVersion: number | undefined
  readonly match: '' | 'Exact' | 'NotOlderThan'
  readonly limit: number
  readonly continue: string
  readonly watch: boolean
  readonly allowWatchBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number | undefined
}

/** The query of a list or a watch. Throws 400 or 422. */
export function listOptions(query: URLSearchParams): ListOptions {
  const match = query.get('resourceVersionMatch') ?? ''
  const options = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    resourceVersion: flag(query.get('watch'))
      ? watchRevision(query)
      : revision(query.get('resourceVersion') ?? ''),
    match: match as ListOptions['match'],
    limit: whole(query.get('limit')) ?? 0,
    continue: query.get('continue') ?? '',
    watch: flag(query.get('watch')) ?? false,
    allowWatchBookmarks: flag(query.get('allowWatchBookmarks')) ?? false,
    sendInitialEvents: flag(query.get('sendInitialEvents')),
    timeoutSeconds: whole(query.get('timeoutSeconds')),
  }
  const causes = listCauses(options)
  if (causes.length > 0) throw invalidOptions('ListOptions', causes)
  return options
}

function listCauses(options: ListOptions): readonly Cause[] {
  const { match, watch, sendInitialEvents: initial, resourceVersion } = options
  const field = 'resourceVersionMatch'
  if (!['', 'Exact', 'NotOlderThan'].includes(match)) {
    return [unsupportedValue(field, JSON.stringify(match), ['Exact', 'NotOlderThan', ''])]
  }
  if (initial !== undefined && match !== 'NotOlderThan') {
    return [forbiddenValue(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')]
  }
  if (!match) return []
  if (watch && initial === undefined)
    return [
      forbiddenValue(
        field,
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    ]
  if (watch) return []
  if (initial !== undefined)
    return [forbiddenValue('sendInitialEvents', 'sendInitialEvents is forbidden for list')]
  if (resourceVersion === undefined) {
    return [forbiddenValue(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided')]
  }
  if (options.continue)
    return [forbiddenValue(field, 'resourceVersionMatch is forbidden when continue is provided')]
  return []
}

/** A watch says of a bad revision that the server is at fault. */
function watchRevision(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? ''
  if (text === '' || REVISION.test(text)) return text === '' ? undefined : Number(text)
  throw new StatusError(500, '', badRevision(text))
}

const REVISION = /^\d{1,15}$/

function badRevision(text: string): string {
  const why = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`
  return `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${why}`
}

/** Throws 400 for a resourceVersion that is no number. */
export function revision(text: string): number | undefined {
  if (text === '') return undefined
  if (REVISION.test(text)) return Number(text)
  throw badRequest(`invalid resource version: ${badRevision(text)}`)
}

function whole(text: string | null): number | undefined {
  if (text === null || text === '') return undefined
  if (!/^-?\d{1,15}$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Math.max(0, Number(text))
}

function flag(text: string | null): boolean | undefined {
  return text === null ? undefined : text === '' || text === '1' || text.toLowerCase() === 'true'
}
