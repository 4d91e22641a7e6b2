import type { EdgeAction } from '@upgrade-hub/api'

const MAX_ACTIONS = 12

/**
 * The list with an action that is over. A resumed updater reports an action again: each end of each action is kept once, so
 * the list stays short.
 */
export function withAction(actions: readonly EdgeAction[], over: EdgeAction): EdgeAction[] {
  const known = actions as EdgeAction[]
  if (known.length >= MAX_ACTIONS) return known
  const isKnown = known.some(({ action, succ }) => action === over.action && succ === over.succ)
  return isKnown ? known : [...known, over]
}
