/** How a caller should treat a failure: never again with the same input, later with back-off, or at once. */
export type Retry = 'never' | 'backoff' | 'now'

/**
 * The base of every error that this project expects. `code` is stable and documented in docs/errors.md (AREA_REASON in
 * upper case); the message says what to do. Anything else that is thrown is a programming fault.
 */
export abstract class HubError extends Error {
  readonly code: string
  readonly retry: Retry
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: string,
    message: string,
    options: { retry?: Retry; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.retry = options.retry ?? 'never'
    this.details = options.details
  }
}

/** Every problem of a configuration at once, one line each, so that an operator mends them in one go. */
export class ConfigError extends HubError {
  readonly problems: readonly string[]

  constructor(source: string, problems: readonly string[]) {
    super('CONFIG_INVALID', `${source} is not valid:\n${problems.map((p) => `  - ${p}`).join('\n')}`)
    this.problems = problems
  }
}

/** A text that should be a version, an image reference or an id and is not. */
export class ParseError extends HubError {
  constructor(what: string, text: string, expected: string) {
    super('PARSE_INVALID', `invalid ${what} ${JSON.stringify(text.slice(0, 200))}: ${expected}`)
  }
}

/** A broken promise of our own code: never caught to go on, only to say so. */
export class InvariantError extends HubError {
  constructor(message: string) {
    super('INVARIANT_BROKEN', message)
  }
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** The end of a switch over a union: a new member fails the type check here. */
export function assertNever(value: never): never {
  throw new InvariantError(`unexpected value ${JSON.stringify(value)}`)
}

/** The text of anything that was thrown, one line, at most 500 characters. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  return text.replace(/\s+/g, ' ').slice(0, 500)
}
