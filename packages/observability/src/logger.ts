import type { Logger } from '@upgrade-hub/core'
import { pino } from 'pino'
import { redact, redactText } from './redaction.ts'

export interface LoggerOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent'
  /** The program, on every line. */
  readonly name: string
  /** Where lines go; standard output when absent. Written at once, so that a crash loses none. */
  readonly destination?: { write(line: string): void }
}

/**
 * A logger that writes one JSON object a line: `level`, `time` (RFC 3339), `name`, the fields, `msg`. Tokens, passwords,
 * keys and authorization headers are replaced wherever they stand, in fields, errors and sentences.
 */
export function createLogger({ level, name, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return new RedactingLogger(pino(options, destination ?? pino.destination({ sync: true })))
}

type Level = 'debug' | 'info' | 'warn' | 'error'

class RedactingLogger implements Logger {
  readonly #pino: pino.Logger

  constructor(inner: pino.Logger) {
    this.#pino = inner
  }

  debug(fields: object, message: string): void {
    this.#write('debug', fields, message)
  }

  info(fields: object, message: string): void {
    this.#write('info', fields, message)
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields, message)
  }

  error(fields: object, message: string): void {
    this.#write('error', fields, message)
  }

  child(fields: Record<string, unknown>): Logger {
    return new RedactingLogger(this.#pino.child(redact(fields) as object))
  }

  /** A level that is off costs a comparison, not a copy of the fields. */
  #write(level: Level, fields: object, message: string): void {
    if (!this.#pino.isLevelEnabled(level)) return
    const bare = fields instanceof Error ? { err: fields } : fields
    this.#pino[level](redact(bare) as object, redactText(message))
  }
}
