import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Logger, messageOf } from '@upgrade-hub/core'
import { StorageError } from '../errors.ts'
import { type KubeObject, withMeta } from '../objects.ts'
import { type Change, History, type HistoryLimits } from './history.ts'
import { SortedMap } from './sorted-map.ts'

type Listener = (changes: readonly Change[]) => void

interface Batch {
  readonly changes: Change[]
  /** What goes to the disk, by the index of the change: undefined for a deletion. */
  readonly bodies: (string | undefined)[]
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: StorageError) => void
}

/**
 * All objects, mirrored in memory and durable in SQLite. Writes of one turn of the event loop are committed together.
 * What is read may be younger than the disk: a reader notes `head` with it and answers after `settled`. Watchers hear of
 * a write after its commit. One revision rises with every write and is never used twice.
 */
export class Store {
  readonly history: History
  readonly #database: DatabaseSync
  readonly #log: Logger
  readonly #resources = new Map<string, SortedMap<KubeObject>>()
  readonly #listeners: Listener[] = []
  readonly #statements: { readonly [name in 'put' | 'remove' | 'count']: StatementSync }
  #revision: number
  #committed: number
  #batch: Batch | undefined
  #closed = false

  constructor(database: DatabaseSync, log: Logger, limits?: HistoryLimits) {
    this.#database = database
    this.#log = log
    this.#statements = {
      put: database.prepare(
        'INSERT INTO objects (resource, key, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body',
      ),
      remove: database.prepare('DELETE FROM objects WHERE resource = ? AND key = ?'),
      count: database.prepare("INSERT OR REPLACE INTO counters (name, value) VALUES ('revision', ?)"),
    }
    this.#revision = Number(
      database.prepare("SELECT value FROM counters WHERE name = 'revision'").get()?.['value'] ?? 0,
    )
    this.#committed = this.#revision
    this.#load()
    this.history = new History(this.#revision, limits)
  }

  /** The revision of the last durable write. */
  get committed(): number {
    return this.#committed
  }

  /** The revision of what `get` and `all` show now. */
  get head(): number {
    return this.#revision
  }

  get(resource: string, key: string): KubeObject | undefined {
    return this.#resources.get(resource)?.get(key)
  }

  /** The objects of a resource by key, in the order of keys. */
  all(resource: string): SortedMap<KubeObject> {
    let objects = this.#resources.get(resource)
    if (!objects) {
      objects = new SortedMap()
      this.#resources.set(resource, objects)
    }
    return objects
  }

  /** The objects of a resource at a committed revision; undefined when that is compacted away. */
  past(resource: string, revision: number): ReadonlyMap<string, KubeObject> | undefined {
    return this.history.rewind(resource, this.all(resource), {
      revision,
      pending: this.#batch?.changes ?? [],
    })
  }

  /** Every resource that has or had objects. */
  resources(): readonly string[] {
    return [...this.#resources.keys()]
  }

  /** Sets an object and returns it with its new resourceVersion. It counts only when `settled` has resolved. */
  put(resource: string, key: string, object: KubeObject): KubeObject {
    const revision = this.#next()
    const written = withMeta(object, { resourceVersion: String(revision) })
    const previous = this.get(resource, key)
    const body = JSON.stringify(written)
    this.all(resource).set(key, written)
    const type = previous ? 'MODIFIED' : 'ADDED'
    const before = previous ? { previous } : {}
    this.#enqueue({ revision, type, resource, key, object: written, ...before, bytes: body.length }, body)
    return written
  }

  /** Removes an object and returns it at the revision of its end; undefined when there is none. */
  remove(resource: string, key: string, last?: KubeObject): KubeObject | undefined {
    const previous = this.get(resource, key)
    if (!previous) return undefined
    const revision = this.#next()
    const object = withMeta(last ?? previous, { resourceVersion: String(revision) })
    this.all(resource).delete(key)
    this.#enqueue({ revision, type: 'DELETED', resource, key, object, previous, bytes: 256 }, undefined)
    return object
  }

  /** Shows an object otherwise than it is stored, as after a change of its schema: no write, no event. */
  reinterpret(resource: string, as: (object: KubeObject) => KubeObject): void {
    const objects = this.all(resource)
    for (const [key, object] of [...objects.entries()]) objects.set(key, as(object))
  }

  /** Resolves when all writes so far are on the disk; rejects with StorageError when they were undone instead. */
  async settled(): Promise<void> {
    await this.#batch?.done
  }

  /** Called after each commit, in order, with its changes. A listener must not throw. */
  onCommit(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** Commits what is pending and closes the file; later writes throw. */
  close(): void {
    if (this.#closed) return
    this.#flush()
    this.#closed = true
    this.#database.close()
  }

  #load(): void {
    for (const row of this.#database.prepare('SELECT resource, key, body FROM objects').iterate()) {
      this.all(String(row['resource'])).set(String(row['key']), JSON.parse(String(row['body'])) as KubeObject)
    }
  }

  #next(): number {
    if (this.#closed) throw new StorageError('the store is closed')
    this.#revision += 1
    return this.#revision
  }

  #enqueue(change: Change, body: string | undefined): void {
    if (!this.#batch) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      // Whoever wrote waits for `settled`; a writer that does not must not bring the process down.
      promise.catch(() => undefined)
      this.#batch = { changes: [], bodies: [], done: promise, resolve, reject }
      setImmediate(() => this.#flush())
    }
    this.#batch.changes.push(change)
    this.#batch.bodies.push(body)
  }

  #flush(): void {
    const batch = this.#batch
    if (!batch) return
    this.#batch = undefined
    try {
      this.#commit(batch)
    } catch (error) {
      this.#undo(batch.changes)
      this.#log.error({ error: messageOf(error) }, 'a commit failed, its writes are undone')
      batch.reject(new StorageError(`the write could not be stored: ${messageOf(error)}`, error))
      return
    }
    this.#committed = batch.changes.at(-1)?.revision ?? this.#committed
    this.history.append(batch.changes)
    batch.resolve()
    for (const listener of this.#listeners) listener(batch.changes)
  }

  #commit({ changes, bodies }: Batch): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      for (const [index, { resource, key }] of changes.entries()) {
        const body = bodies[index]
        if (body === undefined) this.#statements.remove.run(resource, key)
        else this.#statements.put.run(resource, key, body)
      }
      this.#statements.count.run(changes.at(-1)?.revision ?? this.#revision)
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #undo(changes: readonly Change[]): void {
    for (const { resource, key, previous } of changes.toReversed()) {
      if (previous) this.all(resource).set(key, previous)
      else this.all(resource).delete(key)
    }
  }
}
