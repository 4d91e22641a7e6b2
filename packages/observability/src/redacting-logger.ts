import type { Logger } from '@upgrade-hub/core'
import { redact, redactText } from './redaction.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'

export interface LoggerOptions {
  readonly level: Level | 'silent'
  /** The program, on every line. */
  readonly name: string
  /** Where lines go; standard output when absent. Written at once, so that a crash loses none. */
  readonly destination?: { write(line: string): void }
}

/** What turns redacted fields and a sentence into a line. */
export interface LineWriter {
  isLevelEnabled(level: Level): boolean
  write(level: Level, fields: object, message: string): void
  /** The same with these fields on every line. */
  child(fields: object): LineWriter
}

/** Lets nothing through to its writer before tokens, passwords, keys and authorization headers are replaced. */
export class RedactingLogger implements Logger {
  readonly #writer: LineWriter

  constructor(writer: LineWriter) {
    this.#writer = writer
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
    return new RedactingLogger(this.#writer.child(redact(fields) as object))
  }

  /** A level that is off costs a comparison, not a copy of the fields. */
  #write(level: Level, fields: object, message: string): void {
    if (!this.#writer.isLevelEnabled(level)) return
    const bare = fields instanceof Error ? { err: fields } : fields
    this.#writer.write(level, redact(bare) as object, redactText(message))
  }
}
