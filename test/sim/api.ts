import { isDeepStrictEqual } from 'node:util'
import type { Node, NodeUpgradeJob, NodeUpgradeTask, ObjectMeta } from '@upgrade-hub/api'
import { NODE_FIELD_MANAGER } from '@upgrade-hub/rollout'
import { refusal } from './rules.ts'
import type { World } from './world.ts'

export interface Kinds {
  job: NodeUpgradeJob
  task: NodeUpgradeTask
  node: Node
}
export type Kind = keyof Kinds
export type Stored = { metadata: ObjectMeta; spec?: unknown; status?: unknown }
export type Event = { type: 'put' | 'deleted'; kind: Kind; object: Stored; version: number }
export type Failure = 'conflict' | 'notFound' | 'invalid' | 'exists' | 'unknown' | 'away'
export type Answer<T> = { ok: true; object: T } | { ok: false; failure: Failure }

export interface PatchOptions {
  readonly status?: boolean
  readonly manager?: string
}

/**
 * The API server in virtual time: resourceVersions, UIDs, merge patches, finalizers, garbage collection, the transition rules
 * of the CRDs, and who owns `spec.unschedulable`. Calls take time, fail, and sometimes succeed without an answer.
 */
export class SimApi {
  readonly #world: World
  readonly #objects = new Map<string, Stored>()
  readonly #watchers = new Set<(event: Event) => void>()
  /** Told of every stored state, for the checker. */
  readonly onStored = new Set<(event: Event, before: Stored | undefined) => void>()
  #version = 0
  #uids = 0
  /** How often a call fails without effect, and with effect but without an answer. */
  faults = { away: 0, lost: 0, conflict: 0 }
  writes = 0

  constructor(world: World) {
    this.#world = world
  }

  get<K extends Kind>(kind: K, name: string): Kinds[K] | undefined {
    return this.#objects.get(`${kind}/${name}`) as Kinds[K] | undefined
  }

  all<K extends Kind>(kind: K): Kinds[K][] {
    const prefix = `${kind}/`
    return [...this.#objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([, object]) => object) as unknown as Kinds[K][]
  }

  /** Watches everything from now on, in the order of its storing. */
  watch(listener: (event: Event) => void): () => void {
    this.#watchers.add(listener)
    return () => this.#watchers.delete(listener)
  }

  /** As a request over the network: it takes time on both ways, and may be lost on either. */
  call<T>(run: () => Answer<T>, done: (answer: Answer<T>) => void): void {
    const { random } = this.#world
    const slow = random.chance(0.02) ? random.int(500, 4000) : 0
    this.#world.after(random.int(1, 20) + slow, () => {
      if (random.chance(this.faults.away))
        return this.#world.after(random.int(1, 20), () => done({ ok: false, failure: 'away' }))
      if (random.chance(this.faults.conflict))
        return this.#world.after(random.int(1, 20), () => done({ ok: false, failure: 'conflict' }))
      const answer = run()
      const lost = random.chance(this.faults.lost)
      this.#world.after(random.int(1, 20), () => done(lost ? { ok: false, failure: 'unknown' } : answer))
    })
  }

  create<K extends Kind>(kind: K, object: Kinds[K]): Answer<Kinds[K]> {
    const { name } = object.metadata
    if (this.get(kind, name)) return { ok: false, failure: 'exists' }
    const metadata = {
      ...object.metadata,
      uid: `${kind}-uid-${++this.#uids}`,
      creationTimestamp: new Date(this.#world.now).toISOString().replace(/\.\d+Z$/, 'Z'),
      generation: 1,
    }
    const status = kind === 'task' ? { status: { phase: 'Pending' } } : {}
    return { ok: true, object: this.#store(kind, { ...object, ...status, metadata }) as Kinds[K] }
  }

  patch<K extends Kind>(kind: K, name: string, body: object, options: PatchOptions = {}): Answer<Kinds[K]> {
    const old = this.get(kind, name) as Stored | undefined
    if (!old) return { ok: false, failure: 'notFound' }
    const { metadata, ...rest } = body as { metadata?: Partial<ObjectMeta>; spec?: unknown; status?: unknown }
    if (
      metadata?.resourceVersion !== undefined &&
      metadata.resourceVersion !== old.metadata.resourceVersion
    ) {
      return { ok: false, failure: 'conflict' }
    }
    if (!options.status && metadata?.uid !== undefined && metadata.uid !== old.metadata.uid)
      return { ok: false, failure: 'conflict' }
    const { status, ...main } = rest as { status?: unknown }
    const applied = options.status ? { status } : { ...main, ...(metadata ? { metadata } : {}) }
    const next = merge(old, applied) as Stored
    const why = refusal(kind, old, next)
    if (why) {
      this.#world.breach(`the schema refused ${kind} ${name}: ${why}`)
      return { ok: false, failure: 'invalid' }
    }
    const owned = kind === 'node' ? withOwner(old as Node, next as Node, options.manager ?? 'kubectl') : next
    if (isDeepStrictEqual(owned, old)) return { ok: true, object: old as Kinds[K] }
    this.writes += 1
    const generation = (old.metadata.generation ?? 1) + (options.status || isSameContent(old, owned) ? 0 : 1)
    return this.#settle(kind, name, { ...owned, metadata: { ...owned.metadata, generation } })
  }

  /** With finalizers the object only begins to go. */
  delete(kind: Kind, name: string): void {
    const old = this.get(kind, name) as Stored | undefined
    if (!old || old.metadata.deletionTimestamp) return
    const metadata = { ...old.metadata, deletionTimestamp: new Date(this.#world.now).toISOString() }
    this.#settle(kind, name, { ...old, metadata })
  }

  #settle<K extends Kind>(kind: K, name: string, next: Stored): Answer<Kinds[K]> {
    if (!next.metadata.deletionTimestamp || next.metadata.finalizers?.length) {
      return { ok: true, object: this.#store(kind, next) as Kinds[K] }
    }
    this.#objects.delete(`${kind}/${name}`)
    this.#tell({ type: 'deleted', kind, object: next, version: ++this.#version }, next)
    if (kind === 'job') this.#collect(next.metadata.uid ?? '')
    return { ok: true, object: next as unknown as Kinds[K] }
  }

  /** The garbage collector, a little later. */
  #collect(uid: string): void {
    this.#world.after(this.#world.random.int(100, 2000), () => {
      for (const task of this.all('task')) {
        if (task.metadata.ownerReferences?.some((owner) => owner.uid === uid))
          this.delete('task', task.metadata.name)
      }
    })
  }

  #store(kind: Kind, object: Stored): Stored {
    const version = ++this.#version
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
    const key = `${kind}/${object.metadata.name}`
    const before = this.#objects.get(key)
    this.#objects.set(key, stored)
    this.#tell({ type: 'put', kind, object: stored, version }, before)
    return stored
  }

  #tell(event: Event, before: Stored | undefined): void {
    for (const check of this.onStored) check(event, before)
    for (const watcher of this.#watchers) watcher(event)
  }
}

/** RFC 7386, sharing what does not change. */
function merge(into: unknown, from: unknown): unknown {
  if (typeof from !== 'object' || from === null || Array.isArray(from)) return from
  const result: Record<string, unknown> =
    typeof into === 'object' && into !== null && !Array.isArray(into) ? { ...into } : {}
  for (const [key, value] of Object.entries(from)) {
    if (value === null) delete result[key]
    else if (value !== undefined) result[key] = merge(result[key], value)
  }
  return result
}

/** As server-side field tracking: a manager owns a field from the moment it changes it, and nobody owns what is absent. */
function withOwner(old: Node, next: Node, manager: string): Stored {
  const before = old.spec?.unschedulable
  const after = next.spec?.unschedulable
  if (before === after) return next
  const entry = { manager, operation: 'Update', fieldsV1: { 'f:spec': { 'f:unschedulable': {} } } }
  return { ...next, metadata: { ...next.metadata, managedFields: after === undefined ? [] : [entry] } }
}

function isSameContent(old: Stored, next: Stored): boolean {
  const content = (object: Stored) => ({ ...object, metadata: undefined, status: undefined })
  return isDeepStrictEqual(content(old), content(next))
}

export const OURS = { manager: NODE_FIELD_MANAGER }
