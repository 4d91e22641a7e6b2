import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, systemClock } from '@upgrade-hub/core'
import { type Result, validate } from '@upgrade-hub/protocol'
import type { EdgeConfig } from './config.ts'
import { UnreadableError } from './errors.ts'
import { makeFolder, removeDurable, writeDurable } from './host/durable.ts'
import { readJson } from './host/read.ts'
import { isAttemptId, spoolFolder } from './store/paths.ts'
import type { Spool, SpooledResult } from './types.ts'

const MAX_WAITING = 1000
const MAX_REJECTED = 100
/** `{13 digits of ms}-{HistoryID}.json`: the order of the names is the order of the results. */
const NAME = /^(?<ms>\d{13})-(?<id>.+)\.json$/

/** Opens the result spool of this node under `paths.state`. Updaters and edgehub may use it at the same time. */
export function openSpool(config: EdgeConfig, clock: Clock = systemClock): Spool {
  return new DiskSpool(spoolFolder(config), clock)
}

class DiskSpool implements Spool {
  readonly #folder: string
  readonly #rejected: string
  readonly #clock: Clock

  constructor(folder: string, clock: Clock) {
    this.#folder = folder
    this.#rejected = join(folder, 'rejected')
    this.#clock = clock
  }

  async put(result: Result): Promise<void> {
    const id = validate('Result', result).HistoryID
    if (!isAttemptId(id)) throw new UnreadableError('a result', 'its HistoryID is not a name')
    await makeFolder(this.#folder)
    const all = await names(this.#folder)
    const older = all.filter((name) => idOf(name) === id)
    const name = older[0] ?? `${nextNumber(all.at(-1), this.#clock.now())}-${id}.json`
    await writeDurable(join(this.#folder, name), JSON.stringify(result))
    for (const extra of older.slice(1)) await removeDurable(join(this.#folder, extra))
    await capFolder(this.#folder, MAX_WAITING)
  }

  async oldest(): Promise<SpooledResult | undefined> {
    for (const name of await names(this.#folder)) {
      const path = join(this.#folder, name)
      try {
        const result = await readJson(path, (value) => validate('Result', value))
        if (result) return { id: result.HistoryID, result }
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error
        // One that cannot even be moved must not hold the others up.
        await this.#setAside(name, error.message).catch(() => undefined)
      }
    }
    return undefined
  }

  async remove(id: string): Promise<void> {
    for (const name of await this.#named(id)) await removeDurable(join(this.#folder, name))
  }

  async reject(id: string, why: string): Promise<void> {
    for (const name of await this.#named(id)) await this.#setAside(name, why)
  }

  async size(): Promise<number> {
    return (await names(this.#folder)).length
  }

  async #named(id: string): Promise<readonly string[]> {
    return (await names(this.#folder)).filter((name) => idOf(name) === id)
  }

  async #setAside(name: string, why: string): Promise<void> {
    await mkdir(this.#rejected, { recursive: true, mode: 0o700 })
    await writeDurable(join(this.#rejected, `${basename(name, '.json')}.why`), why.slice(0, 1000)).catch(
      // Why is worth less than that it no longer blocks the newer ones.
      () => undefined,
    )
    await rename(join(this.#folder, name), join(this.#rejected, name))
    await capFolder(this.#rejected, MAX_REJECTED * 2)
  }
}

function idOf(name: string): string | undefined {
  return NAME.exec(name)?.groups?.['id']
}

/** Always above the last one: the order must not turn when the wall clock jumps. */
function nextNumber(last: string | undefined, nowMs: number): string {
  const above = last === undefined ? 0 : Number(NAME.exec(last)?.groups?.['ms']) + 1
  return String(Math.max(0, Math.floor(nowMs), above)).padStart(13, '0')
}

async function names(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder).catch(() => [])
  return entries.filter((name) => NAME.test(name)).sort()
}

/** A node that is away for years must not fill its disk: the oldest go. */
async function capFolder(folder: string, cap: number): Promise<void> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile())
  const files = entries.map(({ name }) => name).sort()
  for (const name of files.slice(0, Math.max(0, files.length - cap)))
    await rm(join(folder, name), { force: true })
}
