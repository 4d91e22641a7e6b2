import { rfc3339 } from '@upgrade-hub/core'
import { CRD_STORAGE, terminating, withCleanup } from './crd/crd-resource.ts'
import { at, equal, listAt, objectAt, stringAt } from './json.ts'
import { type KubeObject, withFields, withMeta } from './objects.ts'
import type { Resource } from './registry/resource.ts'

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

export const ORPHAN = 'orphan'
export const FOREGROUND = 'foregroundDeletion'

export interface RemovalOptions {
  readonly propagation?: Propagation
  readonly gracePeriodSeconds?: number
  /** Ms since the epoch. */
  readonly now: number
}

/** What a delete does: takes the object away, marks it as going, or leaves it as it already goes. */
export interface Removal {
  readonly action: 'remove' | 'mark' | 'keep'
  readonly object: KubeObject
}

const GRACE_SECONDS = 30

/** Decides on the deletion of a stored object; pure. */
export function planRemoval(resource: Resource, object: KubeObject, options: RemovalOptions): Removal {
  const finalizers = finalizersFor(object, options.propagation)
  const prepared = withMeta(object, { finalizers: finalizers.length > 0 ? finalizers : undefined })
  switch (resource.storage) {
    case 'namespaces':
      return planNamespace(prepared, object, options)
    case 'pods':
      return planPod(prepared, object, options)
    case CRD_STORAGE:
      return marked(terminating(withCleanup(prepared), rfc3339(options.now)), object, { now: options.now })
    default:
      return finalizers.length > 0 ? marked(prepared, object, { now: options.now, grace: 0 }) : gone(prepared)
  }
}

/** Whether an object that is going has nothing left that holds it. */
export function isReleased(resource: Resource, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata
  if (!deletionTimestamp || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false
  return resource.storage !== 'namespaces' || listAt(object, 'spec', 'finalizers').length === 0
}

function finalizersFor(object: KubeObject, propagation: Propagation | undefined): readonly string[] {
  const all = object.metadata.finalizers ?? []
  if (propagation === undefined) return all
  const others = all.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND)
  if (propagation === 'Background') return others
  return [...others, propagation === 'Orphan' ? ORPHAN : FOREGROUND]
}

function gone(object: KubeObject): Removal {
  return { action: 'remove', object }
}

function marked(
  prepared: KubeObject,
  object: KubeObject,
  { now, grace }: { readonly now: number; readonly grace?: number },
): Removal {
  const { deletionTimestamp, generation } = object.metadata
  if (deletionTimestamp) {
    const same = equal(prepared, object)
    return { action: same ? 'keep' : 'mark', object: prepared }
  }
  const next = withMeta(prepared, {
    deletionTimestamp: rfc3339(now + (grace ?? 0) * 1000),
    ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace }),
    ...(generation === undefined || grace === undefined ? {} : { generation: generation + 1 }),
  })
  return { action: 'mark', object: next }
}

function planNamespace(prepared: KubeObject, object: KubeObject, { now }: RemovalOptions): Removal {
  const held = listAt(object, 'spec', 'finalizers').length + (prepared.metadata.finalizers?.length ?? 0)
  if (held === 0) return gone(prepared)
  const status = { ...objectAt(object, 'status'), phase: 'Terminating' }
  return marked(withFields(prepared, { status }), object, { now })
}

/** A Pod on a node goes when its kubelet says so (a delete without grace), any other at once. */
function planPod(prepared: KubeObject, object: KubeObject, options: RemovalOptions): Removal {
  const ended = ['Succeeded', 'Failed'].includes(stringAt(object, 'status', 'phase'))
  const idle = !stringAt(object, 'spec', 'nodeName') || ended
  const own = Number(at(object, 'spec', 'terminationGracePeriodSeconds') ?? GRACE_SECONDS)
  const grace = idle ? 0 : (options.gracePeriodSeconds ?? own)
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata
  if (grace > 0) {
    if (deletionTimestamp && grace >= deletionGracePeriodSeconds) return marked(prepared, object, options)
    const again = deletionTimestamp ? withMeta(object, { deletionTimestamp: undefined }) : object
    return marked(prepared, again, { now: options.now, grace })
  }
  const atOnce = withMeta(prepared, {
    deletionTimestamp: rfc3339(options.now),
    deletionGracePeriodSeconds: 0,
  })
  if ((prepared.metadata.finalizers ?? []).length === 0) return gone(atOnce)
  return { action: equal(atOnce, object) ? 'keep' : 'mark', object: atOnce }
}
