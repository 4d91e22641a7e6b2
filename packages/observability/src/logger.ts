import type { Logger } from '@upgrade-hub/core'
import { pino } from 'pino'
import { type LineWriter, type LoggerOptions, RedactingLogger } from './redacting-logger.ts'

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
  return new RedactingLogger(writerOf(pino(options, destination ?? pino.destination({ sync: true }))))
}

function writerOf(inner: pino.Logger): LineWriter {
  return {
    isLevelEnabled: (level) => inner.isLevelEnabled(level),
    write: (level, fields, message) => inner[level](fields, message),
    child: (fields) => writerOf(inner.child(fields)),
  }
}
