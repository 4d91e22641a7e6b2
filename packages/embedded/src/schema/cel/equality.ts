import { Optional } from '@marcbachmann/cel-js'
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator'
import type { Meter } from './meter.ts'
import { listIdentity } from './values.ts'

type Fields = Readonly<Record<string, unknown>>

function isFields(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function fieldsEqual(a: Fields, b: Fields, meter: Meter): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => Object.hasOwn(b, name) && celEquals(a[name], b[name], meter))
}

/** Lists of type set and map are equal when they hold the same elements, in whatever order. */
function listsEqual(a: readonly unknown[], b: readonly unknown[], meter: Meter): boolean {
  if (a.length !== b.length) return false
  const identity = listIdentity(a)
  if (identity === undefined) return a.every((item, i) => celEquals(item, b[i], meter))
  const byIdentity = new Map(b.map((item) => [identity(item), item]))
  return a.every((item) => {
    const other = byIdentity.get(identity(item))
    return other !== undefined && celEquals(item, other, meter)
  })
}

function optionalsEqual(a: Optional, b: Optional, meter: Meter): boolean {
  if (!a.hasValue() || !b.hasValue()) return a.hasValue() === b.hasValue()
  return celEquals(a.value(), b.value(), meter)
}

function numbersEqual(a: unknown, b: unknown): boolean {
  // The one place where an int may equal a double: CEL compares numbers across their types.
  return (typeof a === 'number' || typeof a === 'bigint') && (typeof b === 'number' || typeof b === 'bigint')
    ? a == b
    : false
}

/** `==` of CEL as Kubernetes has it: by value, of all types, the order of keys does not count. */
export function celEquals(a: unknown, b: unknown, meter: Meter): boolean {
  meter.charge(1)
  if (a === b || numbersEqual(a, b)) return true
  if (Array.isArray(a)) return Array.isArray(b) && listsEqual(a, b, meter)
  if (isFields(a)) return isFields(b) && fieldsEqual(a, b, meter)
  if (a instanceof Optional) return b instanceof Optional && optionalsEqual(a, b, meter)
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime()
  if (a instanceof Duration) return b instanceof Duration && a.valueOf() === b.valueOf()
  if (a instanceof UnsignedInt) return b instanceof UnsignedInt && a.value === b.value
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0
  return false
}
