import type * as FileSystem from 'node:fs/promises'

type Fs = typeof FileSystem
type Call = (...args: unknown[]) => Promise<unknown>

/** What a disk, or the table of open files, answers when it has had enough. */
export type Errno = 'ENOSPC' | 'EIO' | 'EROFS' | 'EMFILE'

/** The calls that can fail in each way. */
const WRITES = ['write', 'writeFile', 'appendFile', 'mkdir', 'link', 'symlink', 'rename']
const CHANGES = [...WRITES, 'truncate', 'unlink', 'rm', 'chmod', 'chown']
const FAILS: Readonly<Record<Errno, (call: string, writes: boolean) => boolean>> = {
  ENOSPC: (call, writes) => WRITES.includes(call) || (call === 'open' && writes),
  EROFS: (call, writes) => CHANGES.includes(call) || (call === 'open' && writes),
  EIO: (call) => [...CHANGES, 'sync', 'datasync'].includes(call),
  EMFILE: (call) => ['open', 'readdir'].includes(call),
}

/** A disk that fails when it is told to, and tells after every change. */
export class FaultyDisk {
  /** Only what is below it counts. */
  root = '/nowhere'
  errno: Errno = 'EIO'
  /** The number of the call that fails; 0 for none. */
  failAt = 0
  /** The calls after it fail, too, until `heal`. */
  forEver = false
  calls = 0
  /** The process that calls has ended: nothing is done any more. */
  isDead = false
  onChange: () => void = () => undefined

  begin(plan: { errno: Errno; failAt: number; forEver: boolean }): void {
    Object.assign(this, plan, { calls: 0 })
  }

  heal(): void {
    if (this.calls >= this.failAt) this.failAt = 0
  }

  /** The module `node:fs/promises` on this disk. */
  wrap(actual: Fs): Fs {
    const calls = Object.entries(actual).map(([name, value]) =>
      typeof value === 'function' ? [name, this.#call(name, value as Call, actual)] : [name, value],
    )
    return Object.fromEntries(calls) as Fs
  }

  #call(name: string, real: Call, actual: object): Call {
    return async (...args) => {
      const path = String(args[name === 'symlink' ? 1 : 0])
      if (!path.startsWith(this.root)) return real.apply(actual, args)
      const flags = args[1]
      const writes = typeof flags === 'number' ? (flags & 0b11) !== 0 : name !== 'open'
      this.#fail(name, writes, path)
      const result = await real.apply(actual, args)
      if (CHANGES.includes(name)) this.onChange()
      return name === 'open' ? this.#handle(result as Record<string, Call>, path) : result
    }
  }

  #handle(handle: Record<string, Call>, path: string): unknown {
    return new Proxy(handle, {
      get: (target, name: string) => {
        const value = target[name]
        if (typeof value !== 'function') return value
        // The disk under the test is real; only that it really spins is not needed.
        const real: Call = name.endsWith('sync') ? () => Promise.resolve() : value.bind(target)
        return async (...args: unknown[]) => {
          if (name !== 'close') this.#fail(name, true, path)
          const result = await real(...args)
          if (CHANGES.includes(name)) this.onChange()
          return result
        }
      },
    })
  }

  #fail(name: string, writes: boolean, path: string): void {
    if (this.isDead) throw new Error('the process has ended')
    if (!FAILS[this.errno](name, writes)) return
    this.calls++
    const hit = this.calls === this.failAt || (this.forEver && this.calls > this.failAt)
    if (this.failAt === 0 || !hit) return
    throw Object.assign(new Error(`${this.errno}: injected, ${name} '${path}'`), { code: this.errno })
  }
}
