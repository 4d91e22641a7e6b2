import type { KubeObject } from '../objects.ts'
import type { Change } from '../store/history.ts'

/** Where an object is kept. */
export interface Location {
  readonly resource: string
  readonly key: string
}

/** Which objects there are by uid, and which of them are owned by which uid. */
export class OwnerIndex {
  readonly #objects = new Map<string, Location>()
  readonly #dependents = new Map<string, Map<string, Location>>()

  find(uid: string): Location | undefined {
    return this.#objects.get(uid)
  }

  dependents(uid: string): readonly Location[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])]
  }

  apply(change: Change): void {
    const location = { resource: change.resource, key: change.key }
    if (change.previous) this.#drop(change.previous, location)
    if (change.type !== 'DELETED') this.add(change.object, location)
  }

  add(object: KubeObject, location: Location): void {
    const { uid, ownerReferences = [] } = object.metadata
    if (uid) this.#objects.set(uid, location)
    for (const owner of ownerReferences) {
      const owned = this.#dependents.get(owner.uid) ?? new Map<string, Location>()
      this.#dependents.set(owner.uid, owned.set(`${location.resource} ${location.key}`, location))
    }
  }

  #drop(object: KubeObject, location: Location): void {
    const { uid, ownerReferences = [] } = object.metadata
    if (uid) this.#objects.delete(uid)
    for (const owner of ownerReferences) {
      const owned = this.#dependents.get(owner.uid)
      owned?.delete(`${location.resource} ${location.key}`)
      if (owned?.size === 0) this.#dependents.delete(owner.uid)
    }
  }
}
