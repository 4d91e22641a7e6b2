import type { AttemptEvent, AttemptState, Intent } from '../machine/state.ts'
import type { Inbox } from '../store/inbox.ts'
import { hasNewPermit, mayPrepareAgain } from '../store/view.ts'

/** What edgehub has put down for an attempt that rests; undefined when it has nothing to do. */
export async function inboxEvent(
  inbox: Inbox,
  state: AttemptState,
  known: Intent,
): Promise<AttemptEvent | undefined> {
  const [stored, permit, gate] = await Promise.all([inbox.prepare(), inbox.permit(), inbox.gate()])
  const intent = stored ?? known
  const { IntentSeq, RequireConfirmation } = intent.prepare
  const isNew = state.lastSeq === 0 || IntentSeq > state.prepareSeq
  const accepted = { type: 'accepted', intentSeq: IntentSeq, confirm: RequireConfirmation, intent } as const
  if (state.step === 'ended')
    return isNew && gate?.by !== 'cancel' && mayPrepareAgain(state) ? accepted : undefined
  if (state.step === 'prepared' && gate?.by === 'cancel') return { type: 'cancelled' }
  if (isNew) return accepted
  if (permit && hasNewPermit({ permit, state })) return { type: 'proceed', intentSeq: permit.intentSeq }
  return undefined
}
