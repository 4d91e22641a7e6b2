import type { Json } from '../json.ts'
import type { PrinterColumn } from '../schema/index.ts'
import { ageOf } from './age.ts'
import type { Column } from './column.ts'
import { age, NAME } from './column-kit.ts'
import { compileJsonPath } from './json-path.ts'

/** The columns of a custom resource: its name, then `additionalPrinterColumns`, or the age where there are none. */
export function customColumns(printer: readonly PrinterColumn[] | undefined): readonly Column[] {
  return [NAME, ...(printer ? printer.map(printerColumn) : [age()])]
}

function printerColumn(printer: PrinterColumn): Column {
  const { name, type, format = '', priority = 0, jsonPath } = printer
  const select = compileJsonPath(jsonPath)
  const description =
    printer.description || `Custom resource definition column (in JSONPath format): ${jsonPath}`
  const cell: Column['cell'] = (object, now) => cellOf(select(object), type, now)
  return { name, type, format, description, priority, cell }
}

/** Only the first of several values is shown; objects and lists as JSON. */
function cellOf(values: readonly Json[], type: string, now: number): Json {
  const [value] = values
  if (value === undefined || value === null) return null
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return ageOf(value, now)
    default:
      return typeof value === 'string' ? value : JSON.stringify(value)
  }
}
