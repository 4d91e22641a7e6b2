import { type Node, REST_WAVE } from '@upgrade-hub/api'
import { agentVersion, jobPlan, limitsOf, nodeCount } from '@upgrade-hub/rollout'
import { cleanLine } from '../text/clean.ts'
import type { Measured } from './durations.ts'
import type { Rehearsed, Turn } from './rehearsal.ts'

/** The outcome of a job that would wait for ever. */
export const NEVER_ENDS = 'NeverEnds'

/** What a job would do, as it is shown and as `-o json` prints it. Times are seconds from its start. */
export interface PlanReport {
  readonly version: string
  readonly total: number
  readonly toUpgrade: number
  readonly atOnce: number
  /** So many nodes may fail. */
  readonly tolerated: number
  /** How it would end if nothing fails. */
  readonly outcome: string
  readonly outcomeMessage: string
  /** By what earlier jobs took; absent where there was none. */
  readonly aboutSeconds?: number
  readonly measured?: {
    readonly nodes: number
    readonly jobs: readonly string[]
    readonly prepareSeconds: number
    readonly proceedSeconds: number
  }
  /** By the job's own time limits, when nothing fails. */
  readonly atMostSeconds?: number
  readonly waves: readonly WavePlan[]
  readonly nodes: readonly NodePlan[]
  readonly refused: readonly { readonly node: string; readonly reason: string; readonly message: string }[]
  /** What cannot be known beforehand, and what was taken to be so. */
  readonly notes: readonly string[]
}

export interface WavePlan {
  readonly name: string
  readonly nodes: number
  readonly atOnce: number
  readonly approval: boolean
  readonly soakSeconds: number
  readonly beginsSeconds?: number
  readonly endsSeconds?: number
}

export interface NodePlan {
  readonly node: string
  readonly wave: string
  readonly from: string
  readonly beginsSeconds?: number
  readonly endsSeconds?: number
}

export interface PlanInput {
  /** By measured durations, or by the limits where nothing was measured. */
  readonly usual: Rehearsed
  /** By the limits. */
  readonly longest: Rehearsed
  readonly measured: Measured | undefined
  readonly nodes: readonly Node[]
  readonly notes: readonly string[]
}

/** Puts a rehearsal into words. Pure. */
export function planReport({ usual, longest, measured, nodes, notes }: PlanInput): PlanReport {
  const plan = jobPlan(usual.job)
  const run = usual.turns.filter(({ refused }) => !refused)
  const total = usual.turns.length
  const names = [...plan.waves.map(({ name }) => name), ...(plan.waves.length > 0 ? [REST_WAVE] : [])]
  const versions = new Map(
    nodes.map((node) => [node.metadata.name, node.status?.nodeInfo?.kubeletVersion ?? '']),
  )
  const end = usual.job.status?.conditions?.find(({ type }) => type === 'Finished')
  return {
    version: plan.version,
    total,
    toUpgrade: run.length,
    atOnce: Math.max(
      0,
      ...(names.length > 0 ? names.map((_, at) => slots(at)) : [limitsOf(plan, total).slots]),
    ),
    tolerated: Math.floor(plan.tolerance * run.length),
    outcome: end?.reason ?? NEVER_ENDS,
    outcomeMessage: end?.message ?? `the job would wait without end${holdOf(usual)}`,
    ...(measured ? { ...seconds('aboutSeconds', usual.endedAt), measured: measuredWords(measured) } : {}),
    ...seconds('atMostSeconds', longest.endedAt),
    waves: names.map((name, at) => wavePlan(name, at)),
    nodes: run.map((turn) => nodePlan(turn)),
    refused: usual.turns.flatMap(({ node, refused }) =>
      refused ? [{ node, reason: refused.reason, message: cleanLine(refused.message) }] : [],
    ),
    notes: [...notes, ...assumptions(usual)],
  }

  function slots(at: number): number {
    const ofWave = run.filter(({ wave }) => wave === at)
    return ofWave.length === 0
      ? 0
      : Math.min(ofWave.length, limitsOf(plan, total, { index: at, total: ofWave.length }).slots)
  }

  function wavePlan(name: string, at: number): WavePlan {
    const ofWave = run.filter(({ wave }) => wave === at)
    const wave = plan.waves[at]
    return {
      name,
      nodes: ofWave.length,
      atOnce: slots(at),
      approval: wave?.approval === 'Required',
      soakSeconds: wave?.soakSeconds ?? 0,
      ...seconds('beginsSeconds', extreme(Math.min, ofWave, 'takenAt')),
      ...seconds('endsSeconds', extreme(Math.max, ofWave, 'endedAt')),
    }
  }

  function nodePlan({ node, wave, takenAt, endedAt }: Turn): NodePlan {
    return {
      node,
      wave: names[wave] ?? '',
      from: cleanLine(agentVersion(versions.get(node) ?? ''), 64),
      ...seconds('beginsSeconds', takenAt),
      ...seconds('endsSeconds', endedAt),
    }
  }
}

/** What it would wait for, as far as the job itself says. */
function holdOf({ job }: Rehearsed): string {
  const { reason, message } = job.status?.conditions?.find(({ type }) => type === 'Progressing') ?? {}
  return reason && reason !== 'Upgrading' ? ` (${reason}: ${message})` : ''
}

function assumptions({ approved, away, job }: Rehearsed): string[] {
  const plan = jobPlan(job)
  return [
    'no node fails',
    ...(approved.length > 0 ? [`${approved.join(', ')}: approved at once`] : []),
    ...(away.length > 0
      ? [`${nodeCount(away.length)} not Ready or busy (${away.slice(0, 5).join(', ')}): back at once`]
      : []),
    ...(plan.isolation === 'Drain' ? ['every node is drained at once'] : []),
    ...(plan.requireConfirmation ? ['every node is confirmed at once'] : []),
    ...(plan.window?.timeZone === 'NodeLocal' ? ['the clock of every node is set to UTC'] : []),
  ]
}

function measuredWords({ nodes, jobs, prepareMs, proceedMs }: Measured) {
  return {
    nodes,
    jobs,
    prepareSeconds: Math.round(prepareMs / 1_000),
    proceedSeconds: Math.round(proceedMs / 1_000),
  }
}

function extreme(
  of: (...values: number[]) => number,
  turns: readonly Turn[],
  key: 'takenAt' | 'endedAt',
): number | undefined {
  const times = turns.flatMap((turn) => turn[key] ?? [])
  return times.length > 0 ? of(...times) : undefined
}

function seconds<K extends string>(key: K, ms: number | undefined): { [P in K]?: number } {
  return (ms === undefined ? {} : { [key]: Math.round(ms / 1_000) }) as { [P in K]?: number }
}
