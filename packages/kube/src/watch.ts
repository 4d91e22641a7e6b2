import type { Readable } from 'node:stream'
import { errorOfEvent } from './answers.ts'
import { KubeError } from './errors.ts'
import { lines } from './lines.ts'
import type { KubeObject } from './types.ts'

/** What a watch tells. An ERROR event of the server is thrown instead. */
export type WatchEvent<T> =
  /** The server accepted the watch. */
  | { readonly type: 'OPENED' }
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T; readonly resourceVersion: string }
  /** Nothing happened up to this version. `initialEventsEnd` closes the state that a WatchList began with. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }

/** etcd stores at most 1.5 MB an object; JSON of it may be twice as long. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/**
 * Reads the events of an open watch to its end, and destroys it in any case.
 * @throws KubeError for an ERROR event (isGone: list again) or a line that is no event; the stream's error for a break
 */
export async function* watchEvents<T>(body: Readable, title: string): AsyncGenerator<WatchEvent<T>> {
  // A body that is destroyed while nobody reads it emits an error that nobody hears.
  body.on('error', () => undefined)
  try {
    yield { type: 'OPENED' }
    for await (const line of lines(body as AsyncIterable<Buffer>, MAX_EVENT_BYTES)) {
      if (line !== '') yield parseEvent<T>(line, title)
    }
  } finally {
    body.destroy()
  }
}

/** One line of a watch. Pure. @throws KubeError */
function parseEvent<T>(line: string, title: string): WatchEvent<T> {
  const event = parseLine(line, title)
  const metadata = event.object?.metadata
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (!metadata?.name || !metadata.resourceVersion) break
      return { type: event.type, object: event.object as T, resourceVersion: metadata.resourceVersion }
    case 'BOOKMARK':
      if (!metadata?.resourceVersion) break
      return {
        type: 'BOOKMARK',
        resourceVersion: metadata.resourceVersion,
        initialEventsEnd: metadata.annotations?.[INITIAL_EVENTS_END] === 'true',
      }
    case 'ERROR':
      throw errorOfEvent(title, event.object)
    default:
      break
  }
  throw new KubeError('KUBE_BAD_ANSWER', `${title}: an event of unknown shape (${String(event.type)})`)
}

function parseLine(line: string, title: string): { type?: string; object?: KubeObject } {
  try {
    const event = JSON.parse(line) as unknown
    if (typeof event === 'object' && event !== null) return event
  } catch (cause) {
    throw new KubeError('KUBE_BAD_ANSWER', `${title}: a line of the watch is no JSON`, { cause })
  }
  throw new KubeError('KUBE_BAD_ANSWER', `${title}: a line of the watch is no object`)
}
