import type { Environment } from '@marcbachmann/cel-js'
import { CelError } from '../errors.ts'
import { matchesPattern } from '../pattern.ts'
import { celEquals } from './equality.ts'
import type { Meter } from './meter.ts'

type Comparable = bigint | number | string | boolean

/** The namespace of `sets.contains(…)`: a value, because the evaluator knows functions only on values. */
class Sets {}

function comparables(list: readonly unknown[], name: string): readonly Comparable[] {
  const usable = (item: unknown): item is Comparable =>
    ['bigint', 'number', 'string', 'boolean'].includes(typeof item)
  if (!list.every(usable)) throw new CelError(`no such overload: ${name}`)
  return list
}

function extreme(list: readonly unknown[], name: string, better: (a: Comparable, b: Comparable) => boolean) {
  const items = comparables(list, name)
  if (items.length === 0) throw new CelError(`${name} called on empty list`)
  return items.reduce((best, item) => (better(item, best) ? item : best))
}

function sum(list: readonly unknown[]): bigint | number {
  const items = comparables(list, 'sum')
  if (items.every((item) => typeof item === 'bigint')) return items.reduce((total, item) => total + item, 0n)
  if (items.every((item) => typeof item === 'number')) return items.reduce((total, item) => total + item, 0)
  throw new CelError('no such overload: sum')
}

/** A text by code points, which is how CEL counts. */
function charAt(text: string, position: bigint): string {
  const runes = Array.from(text)
  if (position < 0n || position > BigInt(runes.length)) throw new CelError(`index out of range: ${position}`)
  return runes[Number(position)] ?? ''
}

function replaceSome(text: string, [from, to]: readonly [string, string], limit: bigint): string {
  if (limit < 0n) return text.replaceAll(from, () => to)
  const parts = text.split(from)
  const head = parts.slice(0, Number(limit) + 1).join(to)
  return [head, ...parts.slice(Number(limit) + 1)].join(from)
}

function registerLists(env: Environment, meter: Meter): void {
  const find = (list: readonly unknown[], wanted: unknown) =>
    list.findIndex((item) => celEquals(item, wanted, meter))
  const findLast = (list: readonly unknown[], wanted: unknown) =>
    list.findLastIndex((item) => celEquals(item, wanted, meter))
  env
    .registerFunction('list.isSorted(): bool', (list: readonly unknown[]) =>
      comparables(list, 'isSorted').every((item, i, all) => i === 0 || (all[i - 1] ?? item) <= item),
    )
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction('list.min(): dyn', (list: readonly unknown[]) => extreme(list, 'min', (a, b) => a < b))
    .registerFunction('list.max(): dyn', (list: readonly unknown[]) => extreme(list, 'max', (a, b) => a > b))
    .registerFunction('list.indexOf(dyn): int', (list: readonly unknown[], item) => BigInt(find(list, item)))
    .registerFunction('list.lastIndexOf(dyn): int', (list: readonly unknown[], item) =>
      BigInt(findLast(list, item)),
    )
}

function registerSets(env: Environment, meter: Meter): void {
  const has = (list: readonly unknown[], wanted: unknown) =>
    list.some((item) => celEquals(item, wanted, meter))
  const contains = (list: readonly unknown[], sub: readonly unknown[]) => sub.every((item) => has(list, item))
  type Pair = [Sets, readonly unknown[], readonly unknown[]]
  env
    .registerType('Sets', Sets)
    .registerConstant('sets', 'Sets', new Sets())
    .registerFunction('Sets.contains(list, list): bool', (...[, list, sub]: Pair) => contains(list, sub))
    .registerFunction(
      'Sets.equivalent(list, list): bool',
      (...[, a, b]: Pair) => contains(a, b) && contains(b, a),
    )
    .registerFunction('Sets.intersects(list, list): bool', (...[, a, b]: Pair) =>
      b.some((item) => has(a, item)),
    )
}

function registerStrings(env: Environment, meter: Meter): void {
  env
    .registerFunction('string.charAt(int): string', charAt)
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      text.replaceAll(from, () => to),
    )
    .registerFunction(
      'string.replace(string, string, int): string',
      (...[text, from, to, limit]: [string, string, string, bigint]) => replaceSome(text, [from, to], limit),
    )
    .registerFunction('matches(string, string): bool', (text: string, pattern: string) =>
      celMatches(text, pattern, meter),
    )
}

/** `matches` of CEL by RE2: linear in the text, where the evaluator's own would backtrack for ever. */
export function celMatches(text: unknown, pattern: unknown, meter: Meter): boolean {
  if (typeof text !== 'string' || typeof pattern !== 'string') throw new CelError('no such overload')
  meter.charge(1 + text.length)
  try {
    return matchesPattern(pattern, text)
  } catch {
    throw new CelError(`error parsing regexp: ${pattern}`)
  }
}

/**
 * The functions that Kubernetes adds to CEL, of its list, string and set libraries. Those about URLs, addresses,
 * quantities, semantic versions and the finding of patterns are not there: a CRD with them is refused.
 */
export function registerLibrary(env: Environment, meter: Meter): Environment {
  registerLists(env, meter)
  registerSets(env, meter)
  registerStrings(env, meter)
  // Only for the type check: what `==` says is decided by `adapt`.
  env.registerOperator('optional<V> == optional<V>', () => false)
  return env
}
