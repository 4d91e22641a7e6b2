import { duplicate, invalid, required, tooMany } from '../cause.ts'
import { resolveFieldPath } from '../field-path.ts'
import { child, index } from '../path.ts'
import type { Cause, CrdVersion, PrinterColumn } from '../types.ts'
import { labelProblem } from './names.ts'
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

function selectableCauses(version: CrdVersion, path: string): readonly Cause[] {
  const fields = version.selectableFields ?? []
  const seen = new Set<string>()
  const causes = fields.flatMap(({ jsonPath }, i) => {
    const at = index(path, i)
    const repeated = seen.has(jsonPath)
    seen.add(jsonPath)
    return (
      selectableCause(jsonPath, version, at) ?? (repeated ? duplicate(child(at, 'jsonPath'), jsonPath) : [])
    )
  })
  return seen.size > MAX_SELECTABLE ? [...causes, tooMany(path, seen.size, MAX_SELECTABLE)] : causes
}

/** Every problem of the schema of one version. */
export function versionSchemaCauses(version: CrdVersion, path: string): readonly Cause[] {
  const schema = version.schema?.openAPIV3Schema
  const at = child(child(path, 'schema'), 'openAPIV3Schema')
  return schema === undefined ? [required(at)] : schemaCauses(schema, at)
}

/** Every problem of one entry of `spec.versions` but its schema. */
export function versionCauses(version: CrdVersion, path: string): readonly Cause[] {
  const name = labelProblem(version.name)
  const warning = version.deprecationWarning !== undefined && !version.deprecated
  return [
    ...(name === '' ? [] : [invalid(child(path, 'name'), version.name, name)]),
    ...(warning
      ? [
          invalid(
            child(path, 'deprecationWarning'),
            version.deprecationWarning ?? '',
            'can only be set for deprecated versions',
          ),
        ]
      : []),
    ...(version.additionalPrinterColumns ?? []).flatMap((column, i) =>
      columnCauses(column, index(child(path, 'additionalPrinterColumns'), i)),
    ),
    ...selectableCauses(version, child(path, 'selectableFields')),
  ]
}
