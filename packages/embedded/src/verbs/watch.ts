import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { expired, type StatusError, tooManyRequests } from '../errors.ts'
import type { Call } from '../http/call.ts'
import type { Accepted } from '../http/negotiate.ts'
import { type ListOptions, listOptions } from '../http/options.ts'
import { includeOf } from '../http/reply.ts'
import type { KubeObject } from '../objects.ts'
import type { Change } from '../store/history.ts'
import { WatchStream } from '../watch/watch-stream.ts'
import { selectObjects, selector } from './list.ts'

const MAX_WATCHES = 10_000
const MIN_SECONDS = 1800
const MAX_SECONDS = 86_400

/** Where a watch begins: the objects that it is shown first, what happened since, and what it knows then. */
interface Start {
  readonly initial: readonly KubeObject[]
  readonly past: readonly Change[]
  readonly after: number
  readonly refused?: StatusError
}

/** GET of a collection, or of one object, with `watch`. Answers by itself. */
export async function watch(call: Call, response: ServerResponse, accepted: Accepted): Promise<void> {
  const options = listOptions(call.query)
  const { store, watches, clock } = call.api
  if (watches.count >= MAX_WATCHES) throw tooManyRequests('too many watches are open', 10)
  const isVisible = visible(call, options)
  const start = startOf(call, options, isVisible)
  const seconds = Math.min(options.timeoutSeconds ?? randomInt(MIN_SECONDS, 2 * MIN_SECONDS), MAX_SECONDS)
  const spec = {
    resource: call.resource,
    accepted,
    include: includeOf(call.query),
    bookmarks: options.allowWatchBookmarks,
    after: start.after,
    timeoutMs: seconds * 1000,
    isVisible,
  }
  const stream = new WatchStream(response, spec, { store, hub: watches, clock })
  await store.settled()
  const markInitialEnd = options.sendInitialEvents === true && options.allowWatchBookmarks
  // A slow reader must not count as a request in flight.
  void stream.begin({ ...start, markInitialEnd }).catch(() => response.destroy())
}

function visible(call: Call, options: ListOptions): (object: KubeObject) => boolean {
  const matches = selector(call, options)
  const { name } = call
  return name === undefined ? matches : (object) => object.metadata.name === name && matches(object)
}

function startOf(call: Call, options: ListOptions, isVisible: (object: KubeObject) => boolean): Start {
  const { store } = call.api
  const { resourceVersion: from = 0, sendInitialEvents } = options
  if (sendInitialEvents === true || (from === 0 && sendInitialEvents === undefined)) {
    const initial = selectObjects(call, options).filter((object) =>
      isVisible(call.resource.fromStorage(object)),
    )
    return { initial, past: [], after: store.head }
  }
  if (from === 0) return { initial: [], past: [], after: store.head }
  const past = store.history.since(call.resource.storage, from)
  if (past) return { initial: [], past, after: from }
  const refused = expired(`too old resource version: ${from} (${store.history.compacted})`)
  return { initial: [], past: [], after: store.head, refused }
}
