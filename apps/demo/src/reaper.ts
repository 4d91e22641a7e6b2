import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * Ends what the demo started, whatever became of the demo: it waits for its standard input to close, which happens when
 * the demo ends in any way (Ctrl-C, kill -9, a closed terminal). A process belongs to the demo when it runs a file in the
 * demo's folder, or is this Node with an argument in it; a `kubectl` or an editor that was given a file there does not.
 */
const POLL_MS = 100
const GRACE_MS = 4_000

export function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => belongs(argvOf(pid), folder))
}

function belongs(argv: readonly string[], folder: string): boolean {
  const program = argv[0] ?? ''
  if (program.startsWith(`${folder}/`)) return true
  return (
    basename(program) === basename(process.execPath) &&
    argv.some((argument) => argument.startsWith(`${folder}/`))
  )
}

function argvOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** The parent of a process; empty when it is gone. */
export function parentOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold anything; the state and the parent come after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? ''
  } catch {
    return ''
  }
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended by itself in between.
    }
  }
}

/** TERM, a few seconds, KILL, until nothing of the demo runs any more. */
export async function reap(folder: string, graceMs = GRACE_MS): Promise<void> {
  const deadline = performance.now() + graceMs
  for (let left = processesOf(folder); left.length > 0; left = processesOf(folder)) {
    signal(left, performance.now() < deadline ? 'SIGTERM' : 'SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
