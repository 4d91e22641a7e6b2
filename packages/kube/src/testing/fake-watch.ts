import type { ServerResponse } from 'node:http'
import type { FakeObjects, StoredEvent } from './fake-objects.ts'
import type { FakeRequest } from './fake-request.ts'
import { covers, type FakeAnswer, refuse, selectedBy } from './fake-verbs.ts'

/** How a server treats `sendInitialEvents`. Old ones refuse it, some pass over what they do not know. */
export type WatchListMode = 'served' | 'refused' | 'ignored'

/** One watch that a client has open. */
export interface OpenWatch {
  readonly request: FakeRequest
  send(text: string): void
  event(type: string, object: unknown): void
  bookmark(): void
  /** Ends it as a server does when its time is over. */
  end(): void
  /** Breaks the connection. */
  reset(): void
  /** Says nothing from now on, but keeps the connection: the other side has vanished without a word. */
  freeze(): void
}

/** Opens a watch on the response, or says why not. */
export function openWatch(
  objects: FakeObjects,
  request: FakeRequest,
  response: ServerResponse,
  mode: WatchListMode,
): OpenWatch | FakeAnswer {
  const { query, target } = request
  if (!target) return refuse(404, 'NotFound', request.path)
  const wantsState = query.get('sendInitialEvents') === 'true'
  if (wantsState && mode === 'refused')
    return refuse(422, 'Invalid', 'sendInitialEvents is forbidden for watch')
  if (wantsState && query.get('resourceVersionMatch') !== 'NotOlderThan') {
    return refuse(422, 'Invalid', 'sendInitialEvents needs resourceVersionMatch=NotOlderThan')
  }
  const version = query.get('resourceVersion')
  if (version !== null && Number(version) < objects.oldest) {
    return refuse(410, 'Expired', `too old resource version: ${version} (${objects.oldest})`)
  }
  return start({
    objects,
    request,
    response,
    isIn: covers(target),
    marksEnd: wantsState && mode === 'served',
  })
}

function start(by: {
  objects: FakeObjects
  request: FakeRequest
  response: ServerResponse
  isIn: (collection: string) => boolean
  marksEnd: boolean
}): OpenWatch {
  const { objects, request, response, isIn } = by
  const isSelected = selectedBy(request.query)
  let frozen = false
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  const send = (text: string) => {
    if (!frozen && !response.writableEnded && !response.destroyed) response.write(text)
  }
  const event = (type: string, object: unknown) => send(`${JSON.stringify({ type, object })}\n`)
  const forward = (stored: StoredEvent) => {
    if (isIn(stored.collection) && isSelected(stored.object)) event(stored.type, stored.object)
  }
  const bookmark = (annotations?: Record<string, string>) => {
    if (request.query.get('allowWatchBookmarks') !== 'true') return
    const metadata = { resourceVersion: String(objects.version), ...(annotations ? { annotations } : {}) }
    event('BOOKMARK', { kind: 'Bookmark', metadata })
  }
  const from = request.query.get('resourceVersion')
  if (from === null) for (const object of objects.list(isIn).filter(isSelected)) event('ADDED', object)
  else for (const stored of objects.since(Number(from))) forward(stored)
  if (by.marksEnd) bookmark({ 'k8s.io/initial-events-end': 'true' })
  response.on('close', objects.onEvent(forward))
  return {
    request,
    send,
    event,
    bookmark,
    end: () => response.end(),
    reset: () => response.socket?.destroy(),
    freeze: () => {
      frozen = true
    },
  }
}
