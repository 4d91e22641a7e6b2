import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UsageError } from '../errors.ts'

export type FlagTypes = NonNullable<ParseArgsConfig['options']>

/** Those of kubectl that mean something here; every command takes them. */
const COMMON_FLAGS = {
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  as: { type: 'string' },
  'as-group': { type: 'string', multiple: true },
  'request-timeout': { type: 'string' },
  namespace: { type: 'string', short: 'n' },
  output: { type: 'string', short: 'o' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies FlagTypes

/** The flags of one command line. */
export class Flags {
  readonly #values: Readonly<Record<string, unknown>>

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values
  }

  isSet(name: string): boolean {
    return this.#values[name] === true
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    return typeof value === 'string' ? value : undefined
  }

  list(name: string): readonly string[] {
    const value = this.#values[name]
    return Array.isArray(value) ? value.map(String) : []
  }

  /** A whole number of at least `least`. @throws UsageError */
  whole(name: string, least = 0): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= least && value <= 2 ** 31) return value
    throw new UsageError(`--${name} ${text}: give a whole number of at least ${least}`)
  }

  /** One of some words. @throws UsageError that lists them */
  oneOf<const W extends string>(name: string, words: readonly W[]): W | undefined {
    const text = this.text(name)
    const word = words.find((known) => known === text)
    if (text === undefined || word !== undefined) return word
    throw new UsageError(`--${name} ${text}: give ${words.join(', ')}`)
  }

  /** A duration as kubectl takes it (`30s`, `1m30s`, or seconds), in ms. @throws UsageError */
  duration(name: string): number | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : durationMs(name, text)
  }
}

/** @throws UsageError */
export function parseFlags(
  args: readonly string[],
  options: FlagTypes,
): { positionals: readonly string[]; flags: Flags } {
  try {
    const { values, positionals } = parseArgs({
      args: args.map(withoutEquals),
      options: { ...COMMON_FLAGS, ...options },
      allowPositionals: true,
      strict: true,
    })
    return { positionals, flags: new Flags(values) }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** kubectl takes `-o=json` as `-o json`. */
function withoutEquals(argument: string): string {
  return /^-[a-z]=/.test(argument) ? argument.slice(0, 2) + argument.slice(3) : argument
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function durationMs(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const parts = [...text.matchAll(/(\d{1,9})(ms|s|m|h)/g)]
  if (parts.length > 0 && parts.map(([part]) => part).join('') === text) {
    return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0)
  }
  throw new UsageError(`--${name} ${text}: give a duration such as 30s, 5m or 1h30m`)
}
