import { type Logger, rfc3339, systemClock } from '@upgrade-hub/core'
import { type LineWriter, type LoggerOptions, RedactingLogger } from './redacting-logger.ts'

export { redact } from './redaction.ts'

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/**
 * The same lines as `createLogger` writes, for programs on a node: without pino, which loads workers and streams for 2 MB,
 * and without the metrics of this package.
 */
export function createLightLogger({ level, name, destination }: LoggerOptions): Logger {
  const lowest = LEVELS.indexOf(level)
  const to = destination ?? standardOutput()
  const writer = (base: object): LineWriter => ({
    isLevelEnabled: (asked) => LEVELS.indexOf(asked) >= lowest,
    write: (label, fields, msg) => {
      const line = { level: label, time: rfc3339(systemClock.now()), ...base, ...fields, msg }
      to.write(`${JSON.stringify(line)}\n`)
    },
    child: (fields) => writer({ ...base, ...fields }),
  })
  return new RedactingLogger(writer({ name }))
}

/** A line that cannot be written is lost: a disk without room must not end the program. */
function standardOutput(): { write(line: string): void } {
  process.stdout.on('error', () => undefined)
  return process.stdout
}
