import type { Environment } from './config.ts'

/** The hook that every step calls: it ends this process as a power cut would, or holds it, at the one point that was named. */
export function faultPoint({ fault }: Environment): (point: string) => Promise<void> {
  let isOver = false
  return (point) => {
    if (!isOver && point === fault?.point) {
      isOver = true
      process.kill(process.pid, fault.signal)
    }
    return Promise.resolve()
  }
}
