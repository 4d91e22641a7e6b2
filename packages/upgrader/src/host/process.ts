import { readdir, readFile } from 'node:fs/promises'
import { errnoOf } from './durable.ts'

/** What /proc says of a process. A pid is used again, a pid with its start time is not (within one boot). */
export interface ProcessInfo {
  readonly pid: number
  /** Clock ticks since boot. */
  readonly startTime: string
  /** The pid of its session leader. */
  readonly session: number
}

/** The process, or undefined when there is none or it is dead and only waits to be reaped. @see proc_pid_stat(5) */
export async function processInfo(pid: number): Promise<ProcessInfo | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  // The name is in parentheses and may contain anything, so fields are counted after the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, , , session] = fields
  const startTime = fields[19]
  if (state === undefined || state === 'Z' || state === 'X' || startTime === undefined) return undefined
  return { pid, startTime, session: Number(session) }
}

/** True while exactly that process lives. */
export async function isSameProcess(pid: number, startTime: string): Promise<boolean> {
  return (await processInfo(pid))?.startTime === startTime
}

/** True while a process of that program runs, by the name the kernel keeps of it. @see proc_pid_comm(5) */
export async function isProgramRunning(name: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number)
  const names = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')))
  return names.some((found) => found.trim() === name)
}

/** Session leaders that carry `name=value` in the environment they were started with. */
export async function leadersWithEnv(name: string, value: string): Promise<readonly ProcessInfo[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number)
  const found = await Promise.all(pids.map((pid) => leaderWithEnv(pid, `${name}=${value}`)))
  return found.filter((info) => info !== undefined)
}

async function leaderWithEnv(pid: number, marker: string): Promise<ProcessInfo | undefined> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
  if (!environment.split('\0').includes(marker)) return undefined
  const info = await processInfo(pid)
  return info?.session === pid ? info : undefined
}

/** Sends a signal to exactly that process; one that is gone is fine. */
export async function signalProcess(info: ProcessInfo, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (!(await isSameProcess(info.pid, info.startTime))) return
  try {
    process.kill(info.pid, signal)
  } catch (error) {
    if (errnoOf(error) !== 'ESRCH') throw error
  }
}
