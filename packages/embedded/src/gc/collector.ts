import type { Api } from '../api.ts'
import { type KubeObject, type OwnerReference, withMeta } from '../objects.ts'
import { FOREGROUND, isReleased, ORPHAN } from '../removal.ts'
import type { Change } from '../store/history.ts'
import { remove } from '../verbs/delete.ts'
import { type Location, OwnerIndex } from './owner-index.ts'
import type { Reaction } from './reactor.ts'

type Tools = Pick<Api, 'store' | 'registry' | 'clock'>

/** How an owner stands for its dependents. */
type Standing = 'there' | 'waiting' | 'absent'

/**
 * Collects what owners leave behind, as the garbage collector of kube-controller-manager: dependents of an owner that is
 * gone are deleted, an owner that is deleted in the foreground waits for them, an orphaning one lets them go.
 */
export class Collector implements Reaction {
  readonly #index = new OwnerIndex()
  readonly #tools: Tools

  constructor(tools: Tools) {
    this.#tools = tools
    for (const resource of tools.store.resources()) {
      for (const [key, object] of tools.store.all(resource)) this.#index.add(object, { resource, key })
    }
  }

  /** Everything that an earlier process may have left half done. */
  *unfinished(): Iterable<string> {
    const { store } = this.#tools
    for (const resource of store.resources()) {
      for (const [key, object] of store.all(resource)) {
        if (object.metadata.ownerReferences || object.metadata.deletionTimestamp)
          yield idOf({ resource, key })
      }
    }
  }

  *concerns(change: Change): Iterable<string> {
    this.#index.apply(change)
    const { metadata } = change.object
    if (change.type === 'DELETED') {
      for (const dependent of this.#index.dependents(metadata.uid ?? '')) yield idOf(dependent)
      for (const owner of metadata.ownerReferences ?? []) {
        const location = this.#index.find(owner.uid)
        if (location) yield idOf(location)
      }
      return
    }
    if (metadata.deletionTimestamp || metadata.ownerReferences) yield idOf(change)
  }

  settle(id: string): void {
    const location = locationOf(id)
    const object = this.#tools.store.get(location.resource, location.key)
    if (!object) return
    if (object.metadata.finalizers?.includes(ORPHAN)) this.#orphan(object, location)
    else if (object.metadata.finalizers?.includes(FOREGROUND)) this.#waitForDependents(object, location)
    else if (object.metadata.ownerReferences && !object.metadata.deletionTimestamp)
      this.#collect(object, location)
  }

  #orphan(owner: KubeObject, location: Location): void {
    if (!owner.metadata.deletionTimestamp) return
    for (const dependent of this.#index.dependents(owner.metadata.uid ?? '')) {
      this.#edit(dependent, (object) => withoutOwner(object, (ref) => ref.uid === owner.metadata.uid))
    }
    this.#edit(location, (object) => withoutFinalizer(object, ORPHAN))
  }

  #waitForDependents(owner: KubeObject, location: Location): void {
    if (!owner.metadata.deletionTimestamp) return
    const dependents = this.#index.dependents(owner.metadata.uid ?? '')
    for (const dependent of dependents) {
      const object = this.#tools.store.get(dependent.resource, dependent.key)
      if (object && !object.metadata.deletionTimestamp) this.#collect(object, dependent)
    }
    if (!dependents.some((dependent) => this.#blocks(dependent, owner))) {
      this.#edit(location, (object) => withoutFinalizer(object, FOREGROUND))
    }
  }

  #blocks(dependent: Location, owner: KubeObject): boolean {
    const object = this.#tools.store.get(dependent.resource, dependent.key)
    const ref = object?.metadata.ownerReferences?.find((other) => other.uid === owner.metadata.uid)
    return ref?.blockOwnerDeletion === true
  }

  /** Deletes a dependent that nobody owns any more; one that others own only loses the references to who is gone. */
  #collect(object: KubeObject, location: Location): void {
    const owners = object.metadata.ownerReferences ?? []
    const standing = new Map(owners.map((owner) => [owner.uid, this.#standing(owner)]))
    const of = (kind: Standing) => owners.filter((owner) => standing.get(owner.uid) === kind)
    if (of('absent').length === 0 && of('waiting').length === 0) return
    if (of('there').length > 0) {
      this.#edit(location, (current) => withoutOwner(current, (ref) => standing.get(ref.uid) !== 'there'))
      return
    }
    const hasOwn = this.#index.dependents(object.metadata.uid ?? '').length > 0
    this.#remove(object, location, of('waiting').length > 0 && hasOwn ? 'Foreground' : 'Background')
  }

  #standing(owner: OwnerReference): Standing {
    const { store, registry } = this.#tools
    const location = this.#index.find(owner.uid)
    const object = location && store.get(location.resource, location.key)
    if (object && object.metadata.uid === owner.uid) {
      const { deletionTimestamp, finalizers } = object.metadata
      return deletionTimestamp && finalizers?.includes(FOREGROUND) ? 'waiting' : 'there'
    }
    // A kind that is not served here may have owners that we cannot see.
    return registry.ofKind(owner.apiVersion, owner.kind) ? 'absent' : 'there'
  }

  #remove(object: KubeObject, location: Location, propagation: 'Foreground' | 'Background'): void {
    const { store, clock } = this.#tools
    const resource = this.#tools.registry.ofStorage(location.resource)[0]
    if (resource)
      remove({ store }, resource, { key: location.key, object }, { propagation, now: clock.now() })
  }

  #edit({ resource, key }: Location, change: (object: KubeObject) => KubeObject): void {
    const { store, registry } = this.#tools
    const object = store.get(resource, key)
    const served = registry.ofStorage(resource)[0]
    if (!object || !served) return
    const next = change(object)
    if (isReleased(served, next)) store.remove(resource, key, next)
    else if (next !== object) store.put(resource, key, next)
  }
}

function idOf({ resource, key }: Location): string {
  return `${resource} ${key}`
}

function locationOf(id: string): Location {
  const space = id.indexOf(' ')
  return { resource: id.slice(0, space), key: id.slice(space + 1) }
}

export function withoutFinalizer(object: KubeObject, gone: string): KubeObject {
  const finalizers = object.metadata.finalizers?.filter((finalizer) => finalizer !== gone) ?? []
  if (finalizers.length === (object.metadata.finalizers?.length ?? 0)) return object
  return withMeta(object, { finalizers: finalizers.length > 0 ? finalizers : undefined })
}

function withoutOwner(object: KubeObject, isGone: (owner: OwnerReference) => boolean): KubeObject {
  const owners = object.metadata.ownerReferences ?? []
  const left = owners.filter((owner) => !isGone(owner))
  if (left.length === owners.length) return object
  return withMeta(object, { ownerReferences: left.length > 0 ? left : undefined })
}
