import type { AttemptEvent, AttemptState } from '../machine/state.ts'
import type { Inbox } from '../store/inbox.ts'
import { hasNewPermit, mayPrepareAgain } from '../store/view.ts'

/** What edgehub has put down for an attempt that rests; undefined when it has nothing to do. */
export async function inboxEvent(inbox: Inbox, state: AttemptState): Promise<AttemptEvent | undefined> {
  const [stored, permit, gate] = await Promise.all([inbox.prepare(), inbox.permit(), inbox.gate()])
  if (!stored) return undefined
  const { IntentSeq, RequireConfirmation } = stored.prepare
  const isNew = state.lastSeq === 0 || IntentSeq > state.prepareSeq
  const accepted = { type: 'accepted', intentSeq: IntentSeq, confirm: RequireConfirmation } as const
  if (state.step === 'ended')
    return isNew && gate !== 'cancel' && mayPrepareAgain(state) ? accepted : undefined
  if (state.step === 'prepared' && gate === 'cancel') return { type: 'cancelled' }
  if (isNew) return accepted
  if (permit && hasNewPermit({ permit, state })) return { type: 'proceed', intentSeq: permit.intentSeq }
  return undefined
}
