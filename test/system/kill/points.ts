import type { AgentKind } from '@upgrade-hub/upgrader/testing'

export const VICTIMS = ['updater', 'edgehub', 'both', 'agent'] as const
export type Victim = (typeof VICTIMS)[number]

/** One upgrade: who is killed at which point of its first half and of its second. */
export interface Cell {
  readonly kind: AgentKind
  readonly victim: Victim
  readonly points: { readonly prepare?: string; readonly proceed: string }
}

const around = (steps: readonly string[]) => steps.flatMap((step) => [`${step}.before`, `${step}.after`])
const PREPARE = around(['E0', 'E1', 'E2', 'E3', 'E4', 'E4c'])
const PROCEED = [
  ...around(['E5', 'E6', 'E7', 'E8', 'E9', 'E10', 'E11', 'E12']),
  ...['E5.backedUp', 'E7.file', 'E11.spooled'],
]
const WAY_BACK = [...around(['R5', 'R6', 'R7', 'R8', 'R9']), 'R7.file']

/** Every point with every victim. An upgrade has two halves, so that one run covers two points. */
export const CELLS: readonly Cell[] = VICTIMS.flatMap((victim) => [
  ...PROCEED.map((proceed, at): Cell => {
    const prepare = PREPARE[at]
    return { kind: 'good', victim, points: { proceed, ...(prepare === undefined ? {} : { prepare }) } }
  }),
  ...WAY_BACK.map((proceed): Cell => ({ kind: 'crashes at once', victim, points: { proceed } })),
])

/** The new agent is killed while it has to prove itself. */
const ON_TRIAL = ['E8.after', 'E9.before', 'E9.after', 'E10.before']

/** How an upgrade must end. */
export function expectedOutcome({ kind, victim, points }: Cell): 'Succeeded' | 'RolledBack' {
  const died = victim === 'agent' && ON_TRIAL.includes(points.proceed)
  return kind === 'good' && !died ? 'Succeeded' : 'RolledBack'
}

/** Points after which an agent that is killed is its supervisor's business. */
export function isSupervised({ victim, points }: Cell): boolean {
  return victim === 'agent' && /^(E10\.after|E11|E12|R9\.after)/.test(points.proceed)
}
