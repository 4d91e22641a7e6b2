import { openSync, writeSync } from 'node:fs'

/**
 * Where the log goes: beside standard output, which belongs to the answer of a command, and into a file where one is
 * named. A line that cannot be written is lost: a disk without room must not end an updater that has stopped the agent.
 */
export function logDestination(logFile: string | undefined): { write(line: string): void } {
  process.stderr.on('error', () => undefined)
  const file = logFile === undefined ? undefined : openAnyhow(logFile)
  return {
    write: (line) => {
      process.stderr.write(line)
      if (file !== undefined) writeAnyhow(file, line)
    },
  }
}

function openAnyhow(path: string): number | undefined {
  try {
    return openSync(path, 'a', 0o600)
  } catch {
    return undefined
  }
}

function writeAnyhow(file: number, line: string): void {
  try {
    writeSync(file, line)
  } catch {
    return
  }
}
