import type { HubError } from '@upgrade-hub/core'
import type { HealthProbe } from '@upgrade-hub/protocol'
import { StepError } from '../errors.ts'
import type { Facts } from '../machine/state.ts'
import { probeVersion } from '../probe.ts'
import { askOn } from './ask-probe.ts'
import type { StepContext } from './context.ts'
import { ProbeWatch } from './probe-watch.ts'
import { proveSession } from './session.ts'

const POLL_MS = 100
/** Even when no time is asked for, an agent that dies at once must show. */
const MIN_STABLE_MS = 1_000
/** An old agent was good before: it need not be watched for as long as a new one. */
const MAX_OLD_STABLE_MS = 10_000

/** E9: the new agent runs for `minReadySeconds` without a restart, says the wanted version and passes every probe. */
export async function proveNew(context: StepContext): Promise<Facts> {
  const { prepare } = context
  const { minReadySeconds, probes = [] } = prepare.Health
  const facts = await proveHealth(context, {
    version: prepare.Version,
    askedMs: minReadySeconds * 1000,
    probes: [...context.component.probes, ...probes],
  })
  await proveSession(context)
  return facts
}

/**
 * R9: the old agent runs as long, 10 s at most, says the version it had (any, when it had not said one) and passes the
 * node's own probes; those of the job were meant for the new one.
 */
export function proveOld(context: StepContext): Promise<Facts> {
  const { prepare, state } = context
  const askedMs = Math.min(MAX_OLD_STABLE_MS, prepare.Health.minReadySeconds * 1000)
  return proveHealth(context, {
    version: state.facts.fromVersion ?? '',
    askedMs,
    probes: context.component.probes,
  })
}

interface Health {
  readonly version: string
  readonly askedMs: number
  readonly probes: readonly HealthProbe[]
}

/** @throws StepError HealthFailed, or what aborted the signal */
async function proveHealth(context: StepContext, { version, askedMs, probes }: Health): Promise<Facts> {
  const { clock, service, signal } = context
  const stableMs = Math.max(MIN_STABLE_MS, askedMs)
  const watch = new ProbeWatch(probes, clock, askOn(context.config))
  let first: { identity: string; at: number } | undefined
  for (;;) {
    signal.throwIfAborted()
    const { running, starting, identity } = await service.state()
    if (!running && !(starting && !first)) throw unhealthy(first, clock.monotonic())
    if (running && first && first.identity !== identity)
      throw new StepError('HealthFailed', 'the agent restarted')
    if (running && !first) {
      first = { identity, at: clock.monotonic() }
      await proveVersion(context, version)
    }
    if (first) await watch.look()
    if (first && watch.isReady && clock.monotonic() - first.at >= stableMs) break
    await clock.sleep(POLL_MS, signal)
  }
  return { runningVersion: await proveVersion(context, version), identity: first.identity }
}

/** True when the agent runs and says that version at this moment. */
export async function probeHealthOnce(context: StepContext, version: string): Promise<boolean> {
  if (!(await context.service.state()).running) return false
  return (await probeVersion(context.component, context.signal)) === version
}

async function proveVersion({ component, signal }: StepContext, version: string): Promise<string> {
  const found = await probeVersion(component, signal)
  if (found === version || version === '') return found
  throw new StepError('HealthFailed', `the agent says it is ${found || 'no version'}, not ${version}`)
}

function unhealthy(first: { at: number } | undefined, now: number): HubError {
  const after = first ? ` after ${((now - first.at) / 1000).toFixed(1)} s` : ''
  return new StepError('HealthFailed', `the agent does not run${after}`)
}
