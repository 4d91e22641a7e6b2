import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { messageOf } from '@upgrade-hub/core'
import { CommandError } from '../errors.ts'
import { SAFE_ENV } from '../host/command.ts'

const MAX_OUTPUT_BYTES = 1024 * 1024
const MAX_ERROR_CHARS = 300

export interface RunForLines {
  readonly program: string
  readonly args: readonly string[]
  /** All that it gets on its standard input. */
  readonly input: string
  /** Called for each line of its standard output; what it throws ends the program. */
  readonly onLine: (line: string) => void
  readonly signal: AbortSignal
}

/**
 * Runs a program by absolute path and argv until it ends by itself with exit code 0. It is killed with all that it has
 * started in its session when it writes more than 1 MiB, when a line is refused, or when the signal aborts.
 * @throws CommandError, what `onLine` threw, or the signal's reason
 */
export async function runForLines({ program, args, input, onLine, signal }: RunForLines): Promise<void> {
  signal.throwIfAborted()
  const child = spawn(program, [...args], { cwd: '/', env: SAFE_ENV, detached: true, stdio: 'pipe' })
  const problem = Promise.withResolvers<never>()
  const fail = (error: unknown) => problem.reject(error)
  const onAbort = () => fail(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  child.on('error', (error) => fail(new CommandError(program, messageOf(error))))
  // A program that does not read is no fault.
  child.stdin.on('error', () => undefined).end(input)
  const said = tailOf(child)
  follow(child, program, onLine, fail)
  try {
    const [code, name] = (await Promise.race([once(child, 'close'), problem.promise])) as [number, string]
    if (code !== 0) throw new CommandError(program, said() || `it ended with ${code ?? name}`)
  } finally {
    signal.removeEventListener('abort', onAbort)
    problem.promise.catch(() => undefined)
    killSession(child)
  }
}

function follow(
  { stdout }: ChildProcess,
  program: string,
  onLine: (line: string) => void,
  fail: (error: unknown) => void,
): void {
  if (!stdout) return
  let bytes = 0
  stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= MAX_OUTPUT_BYTES) return
    stdout.destroy()
    fail(new CommandError(program, `it wrote more than ${MAX_OUTPUT_BYTES} bytes`))
  })
  createInterface({ input: stdout }).on('line', (line) => {
    try {
      if (line.trim() !== '') onLine(line)
    } catch (error) {
      fail(error)
    }
  })
}

/** The first of what it says on its standard error. */
function tailOf({ stderr }: ChildProcess): () => string {
  let text = ''
  stderr?.on('data', (chunk: Buffer) => {
    if (text.length < MAX_ERROR_CHARS) text += chunk.toString('utf8', 0, MAX_ERROR_CHARS)
  })
  return () => text.trim().slice(0, MAX_ERROR_CHARS)
}

function killSession({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    return
  }
}
