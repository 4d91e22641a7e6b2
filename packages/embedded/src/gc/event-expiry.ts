import type { Clock } from '@upgrade-hub/core'
import { at } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import type { Store } from '../store/store.ts'

const EVENTS = 'events'
/** kube-apiserver's `--event-ttl`. */
const TTL_MS = 60 * 60 * 1000
const ROUND_MS = 60 * 1000

/** Deletes events an hour after they were last told, once a minute. Returns what ends that. */
export function expireEvents({ store, clock }: { readonly store: Store; readonly clock: Clock }): () => void {
  let timer = clock.after(ROUND_MS, round)
  function round(): void {
    for (const key of expired(store, clock.now() - TTL_MS)) store.remove(EVENTS, key)
    timer = clock.after(ROUND_MS, round)
  }
  return () => timer.cancel()
}

function expired(store: Store, before: number): readonly string[] {
  return [...store.all(EVENTS)].filter(([, event]) => lastTold(event) < before).map(([key]) => key)
}

/** The latest of an event's times, in ms: clients keep one event alive by telling it again. */
function lastTold(event: KubeObject): number {
  const times = [
    event.metadata.creationTimestamp,
    event['lastTimestamp'],
    event['eventTime'],
    at(event, 'series', 'lastObservedTime'),
  ]
  const known = times.map((time) => (typeof time === 'string' ? Date.parse(time) : 0))
  return Math.max(...known.filter((time) => !Number.isNaN(time)))
}
