import { type Logger, messageOf } from '@upgrade-hub/core'
import type { KubeObject } from '../objects.ts'
import type { Registry } from '../registry/registry.ts'
import type { Change } from '../store/history.ts'
import type { Store } from '../store/store.ts'
import type { WatchHub } from '../watch/watch-hub.ts'
import { asCrd, CRD_STORAGE, isEstablished } from './crd-resource.ts'
import { customResources, storedReader } from './custom-resource.ts'

/** Serves what established CRDs define, from the moment in which their write is committed. */
export class CrdRegistrar {
  readonly #parts: {
    readonly store: Store
    readonly registry: Registry
    readonly watches: WatchHub
    readonly log: Logger
  }

  /** Registers what is stored and follows every later change. */
  constructor(parts: { store: Store; registry: Registry; watches: WatchHub; log: Logger }) {
    this.#parts = parts
    for (const crd of parts.store.all(CRD_STORAGE).values()) this.#serve(crd)
    parts.store.onCommit((changes) => {
      for (const change of changes) if (change.resource === CRD_STORAGE) this.#changed(change)
    })
  }

  #changed(change: Change): void {
    const { registry, watches } = this.#parts
    if (change.type !== 'DELETED') {
      if (change.previous?.['spec'] !== change.object['spec']) this.#serve(change.object)
      return
    }
    registry.dropCustom(change.object.metadata.name)
    watches.stop(storageOf(change.object))
  }

  /** A schema that does not compile is not served; validation lets none in. */
  #serve(object: KubeObject): void {
    const { registry, store, log } = this.#parts
    if (!isEstablished(object)) return
    try {
      registry.setCustom(object.metadata.name, customResources(asCrd(object)))
      store.reinterpret(storageOf(object), storedReader(asCrd(object)))
    } catch (error) {
      log.error({ crd: object.metadata.name, error: messageOf(error) }, 'a CRD cannot be served')
    }
  }
}

function storageOf(object: KubeObject): string {
  const { group, names } = asCrd(object).spec
  return `${group}/${names.plural}`
}
