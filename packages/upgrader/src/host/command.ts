import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { CommandError } from '../errors.ts'

const MAX_OUTPUT_BYTES = 64 * 1024
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** What every program of ours is started with: nothing is inherited, so nothing can be injected. */
export const SAFE_ENV: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C.UTF-8',
}

export interface CommandOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Added to the allow-listed environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program by absolute path and argv, without a shell; its output, 64 KiB at most. @throws CommandError */
export function run(program: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const settings = {
    env: { ...SAFE_ENV, ...options.env },
    cwd: '/',
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL' as const,
    maxBuffer: MAX_OUTPUT_BYTES,
    ...(options.signal ? { signal: options.signal } : {}),
  }
  execFile(program, [...args], settings, (error, stdout, stderr) => {
    if (error) reject(new CommandError(program, stderr.trim().slice(0, 300) || error.message.slice(0, 300)))
    else resolve(stdout)
  })
  return promise
}

/** The absolute path of a program of the system; undefined when this host has none. */
export async function systemProgram(name: string): Promise<string | undefined> {
  for (const folder of SYSTEM_FOLDERS) {
    const path = `${folder}/${name}`
    const there = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (there) return path
  }
  return undefined
}
