import type { KubeObject } from '../objects.ts'
import type { Change } from '../store/history.ts'

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** In the stored version. */
  readonly object: KubeObject
}

/**
 * What a change is to a watcher that sees only some objects: one that comes into view is added, one that leaves it is
 * deleted, with the last object that was in view at the revision of the change.
 */
export function eventFor(change: Change, isVisible: (object: KubeObject) => boolean): WatchEvent | undefined {
  const before = change.previous !== undefined && isVisible(change.previous)
  const after = change.type !== 'DELETED' && isVisible(change.object)
  if (after) return { type: before ? 'MODIFIED' : 'ADDED', object: change.object }
  if (!before || !change.previous) return undefined
  const { resourceVersion } = change.object.metadata
  const last = change.type === 'DELETED' ? change.object : change.previous
  const metadata = { ...last.metadata, ...(resourceVersion ? { resourceVersion } : {}) }
  return { type: 'DELETED', object: { ...last, metadata } as KubeObject }
}
