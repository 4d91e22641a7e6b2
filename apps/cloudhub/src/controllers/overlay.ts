import type { Change } from '@upgrade-hub/kube'

/**
 * What we have just written or read, until the mirror has caught up: decisions then never see an older state than our own last
 * write, and need not wait for it to come round.
 */
export class Overlay<T> {
  readonly #newer = new Map<string, T>()
  readonly #versionOf: (item: T) => string | undefined

  constructor(versionOf: (item: T) => string | undefined) {
    this.#versionOf = versionOf
  }

  /** Keeps an answer of the API server. */
  put(key: string, item: T): void {
    const known = this.#newer.get(key)
    if (!known || !isOlder(this.#versionOf(item), this.#versionOf(known))) this.#newer.set(key, item)
  }

  /** The newer of what the mirror has and what we know. */
  latest(key: string, mirrored: T | undefined): T | undefined {
    const known = this.#newer.get(key)
    if (!known) return mirrored
    if (!mirrored || isOlder(this.#versionOf(mirrored), this.#versionOf(known))) return known
    this.#newer.delete(key)
    return mirrored
  }

  /** Takes note of a change of the mirror, so that what was deleted does not live on here. */
  see(change: Change<T>): void {
    if (change.type === 'deleted') this.#newer.delete(change.key)
    else this.latest(change.key, change.item)
  }

  forget(key: string): void {
    this.#newer.delete(key)
  }
}

/**
 * Whether one version of an object is older than another. Versions of one kind are comparable decimal numbers (KEP-5504);
 * of what is none, nothing is said.
 */
function isOlder(left: string | undefined, right: string | undefined): boolean {
  if (!left || !right || !NUMBER.test(left) || !NUMBER.test(right)) return false
  return left.length === right.length ? left < right : left.length < right.length
}

const NUMBER = /^[1-9]\d*$/
