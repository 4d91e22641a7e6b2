import { duplicate, invalid, required, tooMany } from '../cause.ts'
import { resolveFieldPath } from '../field-path.ts'
import { child, index } from '../path.ts'
import type { Cause, CrdVersion, PrinterColumn } from '../types.ts'
import { schemaCauses } from './schema-causes.ts'

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const MAX_SELECTABLE = 8

function columnCauses({ name, type, format, jsonPath }: PrinterColumn, path: string): readonly Cause[] {
  const types = `must be one of ${COLUMN_TYPES.join(',')}`
  const causes: Cause[] = []
  if (!name) causes.push(required(child(path, 'name')))
  if (!type) causes.push(required(child(path, 'type'), types))
  else if (!COLUMN_TYPES.includes(type)) causes.push(invalid(child(path, 'type'), type, types))
  if (format && !COLUMN_FORMATS.includes(format)) {
    causes.push(invalid(child(path, 'format'), format, `must be one of ${COLUMN_FORMATS.join(',')}`))
  }
  if (!jsonPath) causes.push(required(child(path, 'JSONPath')))
  else if (!jsonPath.startsWith('.')) {
    causes.push(invalid(child(path, 'JSONPath'), jsonPath, 'must be a simple json path starting with .'))
  }
  return causes
}

const SELECTABLE_TYPES = ['string', 'boolean', 'integer']

function selectableCause(jsonPath: string, version: CrdVersion, path: string): Cause | undefined {
  const at = child(path, 'jsonPath')
  if (!jsonPath) return required(at)
  const found = jsonPath.includes('[')
    ? undefined
    : resolveFieldPath(jsonPath, version.schema?.openAPIV3Schema ?? {})
  if (found === undefined) return invalid(at, jsonPath, 'is an invalid path: does not refer to a valid field')
  if (found.names[0] === 'metadata') return invalid(at, jsonPath, 'must not point to fields in metadata')
  if (SELECTABLE_TYPES.includes(found.schema.type ?? '')) return undefined
  const why =
    'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
  return invalid(at, jsonPath, why)
}

/** Every problem of the selectable fields of a version. */
export function selectableCauses(version: CrdVersion, at: string): readonly Cause[] {
  const path = child(at, 'selectableFields')
  const fields = version.selectableFields ?? []
  const seen = new Set<string>()
  const causes = fields.flatMap(({ jsonPath }, i) => {
    const field = index(path, i)
    const repeated = seen.has(jsonPath)
    seen.add(jsonPath)
    return (
      selectableCause(jsonPath, version, field) ??
      (repeated ? duplicate(child(field, 'jsonPath'), jsonPath) : [])
    )
  })
  return seen.size > MAX_SELECTABLE ? [...causes, tooMany(path, seen.size, MAX_SELECTABLE)] : causes
}

/** Every problem of the schema of one version, or of all where they share it. */
export function versionSchemaCauses(version: CrdVersion, path: string): readonly Cause[] {
  const schema = version.schema?.openAPIV3Schema
  const at = `${child(path, path === 'spec' ? 'validation' : 'schema')}.openAPIV3Schema`
  return schema === undefined ? [required(at)] : schemaCauses(schema, at)
}

/** Every problem of the printer columns of a version. */
export function columnsCauses({ additionalPrinterColumns = [] }: CrdVersion, path: string): readonly Cause[] {
  return additionalPrinterColumns.flatMap((column, i) =>
    columnCauses(column, index(child(path, 'additionalPrinterColumns'), i)),
  )
}

/** A warning may only be given for a version that is deprecated. */
export function deprecationCauses(
  { deprecated, deprecationWarning }: CrdVersion,
  path: string,
): readonly Cause[] {
  if (deprecationWarning === undefined || deprecated) return []
  const why = 'can only be set for deprecated versions'
  return [invalid(child(path, 'deprecationWarning'), deprecationWarning, why)]
}
