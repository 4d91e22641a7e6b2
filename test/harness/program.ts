import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync } from 'node:fs'
import { until } from './until.ts'

const KEPT_BYTES = 1_000_000
const STOP_MS = 10_000
const SETPRIV = '/usr/bin/setpriv'

export interface ProgramOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly input?: string
}

/**
 * A child that cannot outlive us: on Linux the kernel kills it when the thread that started it ends, however that ends.
 * `setpriv` replaces itself, so `pid` is the program's own.
 */
export class Program {
  readonly name: string
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  readonly #child: ChildProcess
  #output = ''
  #stdout = ''

  constructor(name: string, argv: readonly [string, ...string[]], options: ProgramOptions = {}) {
    this.name = name
    const [program, ...args] = bound(argv)
    this.#child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#keep(String(error))
        resolve({ code: null, signal: null })
      })
      this.#child.once('close', (code, signal) => resolve({ code, signal }))
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#keep(text, true))
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#keep(text))
    this.#child.stdin?.on('error', () => undefined).end(options.input)
  }

  get pid(): number {
    const { pid } = this.#child
    if (pid === undefined) throw new Error(`${this.name} could not be started: ${this.#output}`)
    return pid
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid !== undefined
  }

  /** What it said on both streams, the last megabyte. */
  get output(): string {
    return this.#output
  }

  get stdout(): string {
    return this.#stdout
  }

  /** Waits for a line, which may have been said before; fails at once, with the last words, when the program ends. */
  async says(pattern: RegExp, deadlineMs = 20_000): Promise<RegExpMatchArray> {
    const seen = await until(
      `${this.name} says ${pattern}`,
      () => this.#output.match(pattern) ?? (this.isRunning ? undefined : 'ended'),
      deadlineMs,
    )
    if (seen === 'ended')
      throw new Error(`${this.name} ended without saying ${pattern}:\n${this.#output.slice(-2000)}`)
    return seen
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    this.#child.kill(signal)
  }

  /** TERM, then KILL after ten seconds; resolves when it is gone. */
  async stop(): Promise<void> {
    this.kill('SIGTERM')
    const patience = setTimeout(() => this.kill('SIGKILL'), STOP_MS)
    await this.exited
    clearTimeout(patience)
  }

  #keep(text: string, isStdout = false): void {
    this.#output = (this.#output + text).slice(-KEPT_BYTES)
    if (isStdout) this.#stdout = (this.#stdout + text).slice(-KEPT_BYTES)
  }
}

/** Runs to the end and answers what it said; never throws for an exit code. */
export async function run(
  argv: readonly [string, ...string[]],
  options: ProgramOptions & { timeoutMs?: number } = {},
): Promise<{ code: number | null; stdout: string; output: string }> {
  const program = new Program(argv[0], argv, options)
  const patience = setTimeout(() => program.kill('SIGKILL'), options.timeoutMs ?? 60_000)
  const { code } = await program.exited
  clearTimeout(patience)
  return { code, stdout: program.stdout, output: program.output }
}

/** The argv that makes the kernel kill the program when the thread that starts it ends; as it was where that is not to be had. */
export function bound(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return hasSetpriv() ? [SETPRIV, '--pdeathsig', 'KILL', ...argv] : argv
}

let known: boolean | undefined
function hasSetpriv(): boolean {
  if (known === undefined) {
    try {
      accessSync(SETPRIV)
      known = process.platform === 'linux'
    } catch {
      known = false
    }
  }
  return known
}
