import { notFound } from '../errors.ts'
import { type Call, nameOf } from '../http/call.ts'
import { revision } from '../http/options.ts'
import type { Reply } from '../http/reply.ts'
import { keyOf } from '../objects.ts'
import { checkRevision } from './list.ts'

/** GET of an object or its status. */
export async function get(call: Call): Promise<Reply> {
  const { store } = call.api
  checkRevision(revision(call.query.get('resourceVersion') ?? ''), store.head)
  const stored = store.get(call.resource.storage, keyOf(call.namespace, nameOf(call)))
  await store.settled()
  if (!stored) throw notFound(call.resource, nameOf(call))
  return { status: 200, object: call.resource.fromStorage(stored) }
}
