import type { KubeObject } from '../objects.ts'

/** One committed write. Objects are in their stored version; a deletion carries the last object at the new revision. */
export interface Change {
  readonly revision: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly resource: string
  readonly key: string
  readonly object: KubeObject
  readonly previous?: KubeObject
  /** Bytes of the object as JSON, for the bound of the history. */
  readonly bytes: number
}

export interface HistoryLimits {
  readonly changes: number
  readonly bytes: number
}

const DEFAULT_HISTORY_LIMITS: HistoryLimits = { changes: 10_000, bytes: 32 * 1024 * 1024 }

/** The latest changes of all resources, oldest first, bounded by number and bytes; older ones are compacted away. */
export class History {
  #changes: Change[] = []
  #bytes = 0
  #compacted: number
  readonly #limits: HistoryLimits

  /** `revision`: what is already stored; nothing at or before it can be watched from. */
  constructor(revision: number, limits: HistoryLimits = DEFAULT_HISTORY_LIMITS) {
    this.#compacted = revision
    this.#limits = limits
  }

  /** Everything after this revision is still known. */
  get compacted(): number {
    return this.#compacted
  }

  append(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#changes.push(change)
      this.#bytes += change.bytes
    }
    this.#compact()
  }

  /** Forgets everything so far. */
  forget(revision: number): void {
    this.#changes = []
    this.#bytes = 0
    this.#compacted = revision
  }

  /** The changes of one resource after a revision; undefined when some of them may be compacted away. */
  since(resource: string, revision: number): readonly Change[] | undefined {
    if (revision < this.#compacted) return undefined
    return this.#changes.slice(this.#firstAfter(revision)).filter((change) => change.resource === resource)
  }

  /**
   * The state of one resource at a revision, made by undoing what came later, not yet committed writes included;
   * undefined as for `since`.
   */
  rewind(
    resource: string,
    current: ReadonlyMap<string, KubeObject>,
    to: { readonly revision: number; readonly pending: readonly Change[] },
  ): ReadonlyMap<string, KubeObject> | undefined {
    const committed = this.since(resource, to.revision)
    if (!committed) return undefined
    const later = [...committed, ...to.pending.filter((change) => change.resource === resource)]
    if (later.length === 0) return current
    const state = new Map(current)
    for (const change of later.toReversed()) {
      if (change.previous) state.set(change.key, change.previous)
      else state.delete(change.key)
    }
    return state
  }

  #firstAfter(revision: number): number {
    let low = 0
    let high = this.#changes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#changes[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Drops an eighth more than needed, so that the array is not copied at every commit. */
  #compact(): void {
    if (this.#changes.length <= this.#limits.changes && this.#bytes <= this.#limits.bytes) return
    let drop = 0
    const changesGoal = this.#limits.changes * 0.875
    const bytesGoal = this.#limits.bytes * 0.875
    while (drop < this.#changes.length) {
      if (this.#changes.length - drop <= changesGoal && this.#bytes <= bytesGoal) break
      const dropped = this.#changes[drop++]
      this.#bytes -= dropped?.bytes ?? 0
      this.#compacted = dropped?.revision ?? this.#compacted
    }
    this.#changes = this.#changes.slice(drop)
  }
}
