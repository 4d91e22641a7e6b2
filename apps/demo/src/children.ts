import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const REAPER = fileURLToPath(new URL('./reaper-main.ts', import.meta.url))

/** A process of the demo whose words go to a file. */
export function startLogged(argv: readonly [string, ...string[]], logFile: string): ChildProcess {
  const log = openSync(logFile, 'a')
  try {
    return spawn(argv[0], argv.slice(1), { stdio: ['ignore', log, log], detached: true })
  } finally {
    closeSync(log)
  }
}

/** The program that ends everything below `folder` when we are gone, however that happens. */
export function startReaper(folder: string): { finish(): Promise<void> } {
  const child = spawn(process.execPath, [REAPER, `--folder=${folder}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.stdin.on('error', () => undefined)
  child.unref()
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    finish: async () => {
      child.stdin.end()
      child.ref()
      await gone
    },
  }
}
