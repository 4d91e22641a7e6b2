import type { HubError } from '@upgrade-hub/core'
import { StepError } from '../errors.ts'
import type { Facts } from '../machine/state.ts'
import { probeVersion } from '../probe.ts'
import type { StepContext } from './context.ts'
import { proveSession } from './session.ts'

const POLL_MS = 100
/** Even when no time is asked for, an agent that dies at once must show. */
const MIN_STABLE_MS = 1_000
/** An old agent was good before: it need not be watched for as long as a new one. */
const MAX_OLD_STABLE_MS = 10_000

/** E9: the new agent runs for `minReadySeconds` without a restart and says the wanted version. */
export async function proveNew(context: StepContext): Promise<Facts> {
  const { prepare } = context
  const facts = await proveHealth(context, prepare.Version, prepare.Health.minReadySeconds * 1000)
  await proveSession(context)
  return facts
}

/** R9: the old agent runs as long, 10 s at most, and says the version it had (any, when it had not said one). */
export function proveOld(context: StepContext): Promise<Facts> {
  const { prepare, state } = context
  const stableMs = Math.min(MAX_OLD_STABLE_MS, prepare.Health.minReadySeconds * 1000)
  return proveHealth(context, state.facts.fromVersion ?? '', stableMs)
}

/** @throws StepError HealthFailed, or what aborted the signal */
async function proveHealth(context: StepContext, version: string, askedMs: number): Promise<Facts> {
  const { clock, service, signal } = context
  const stableMs = Math.max(MIN_STABLE_MS, askedMs)
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
    if (first && clock.monotonic() - first.at >= stableMs) break
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
