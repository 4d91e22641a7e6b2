import type { Api } from '../api.ts'
import { CRD_CLEANUP, CRD_STORAGE } from '../crd/crd-resource.ts'
import { listAt, objectAt, stringAt } from '../json.ts'
import { type KubeObject, withFields } from '../objects.ts'
import { isReleased } from '../removal.ts'
import type { Change } from '../store/history.ts'
import { remove } from '../verbs/delete.ts'
import { withoutFinalizer } from './collector.ts'
import type { Reaction } from './reactor.ts'

type Tools = Pick<Api, 'store' | 'registry' | 'clock'>

const NAMESPACES = 'namespaces'
const NAMESPACE_FINALIZER = 'kubernetes'

/** Empties what is being deleted: namespaces of all their objects, CRDs of all objects of their kind. */
export class Sweeper implements Reaction {
  readonly #tools: Tools

  constructor(tools: Tools) {
    this.#tools = tools
  }

  *unfinished(): Iterable<string> {
    for (const storage of [NAMESPACES, CRD_STORAGE]) {
      for (const [key, object] of this.#tools.store.all(storage)) {
        if (object.metadata.deletionTimestamp) yield `${storage} ${key}`
      }
    }
  }

  *concerns({ resource, key, object, type }: Change): Iterable<string> {
    if (resource === NAMESPACES || resource === CRD_STORAGE) {
      if (type !== 'DELETED' && object.metadata.deletionTimestamp) yield `${resource} ${key}`
      return
    }
    if (type !== 'DELETED') return
    if (object.metadata.namespace) yield `${NAMESPACES} ${object.metadata.namespace}`
    const dot = resource.indexOf('/')
    if (dot > 0) yield `${CRD_STORAGE} ${resource.slice(dot + 1)}.${resource.slice(0, dot)}`
  }

  settle(id: string): void {
    const [storage = '', key = ''] = id.split(' ')
    const object = this.#tools.store.get(storage, key)
    if (!object?.metadata.deletionTimestamp) return
    if (storage === NAMESPACES) this.#emptyNamespace(object)
    else this.#emptyCrd(object)
  }

  #emptyNamespace(namespace: KubeObject): void {
    const { name } = namespace.metadata
    const storages = new Set(
      this.#tools.registry
        .all()
        .filter((r) => r.namespaced)
        .map((r) => r.storage),
    )
    const left = [...storages].reduce((sum, storage) => sum + this.#empty(storage, `${name}/`), 0)
    if (left > 0) return
    const finalizers = listAt(namespace, 'spec', 'finalizers').filter((f) => f !== NAMESPACE_FINALIZER)
    if (finalizers.length === listAt(namespace, 'spec', 'finalizers').length) return
    this.#release(NAMESPACES, withFields(namespace, { spec: { ...objectAt(namespace, 'spec'), finalizers } }))
  }

  #emptyCrd(crd: KubeObject): void {
    const storage = `${stringAt(crd, 'spec', 'group')}/${stringAt(crd, 'spec', 'names', 'plural')}`
    if (this.#empty(storage, '') > 0) return
    const next = withoutFinalizer(crd, CRD_CLEANUP)
    if (next !== crd) this.#release(CRD_STORAGE, next)
  }

  /** Deletes what is kept below a prefix, and tells how many are still there, held by finalizers. */
  #empty(storage: string, prefix: string): number {
    const { store, registry, clock } = this.#tools
    const resource = registry.ofStorage(storage)[0]
    if (!resource) return 0
    const options = { propagation: 'Background' as const, gracePeriodSeconds: 0, now: clock.now() }
    let left = 0
    for (const key of [...store.all(storage).sortedKeys()]) {
      const object = key.startsWith(prefix) ? store.get(storage, key) : undefined
      if (object && !remove({ store }, resource, { key, object }, options).removed) left += 1
    }
    return left
  }

  #release(storage: string, object: KubeObject): void {
    const { store, registry } = this.#tools
    const resource = registry.ofStorage(storage)[0]
    if (resource && isReleased(resource, object)) store.remove(storage, object.metadata.name, object)
    else store.put(storage, object.metadata.name, object)
  }
}
