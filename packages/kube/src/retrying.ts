import { type BackoffPolicy, backoffMs } from '@upgrade-hub/core'
import type { CallKind } from './answers.ts'
import type { KubeError } from './errors.ts'

/** How often a call is tried where its caller does not say. */
export const DEFAULT_TRIES = 4
const POLICY: BackoffPolicy = { baseMs: 200, maxMs: 5_000 }
const AGAIN_FOR_READS = new Set(['KUBE_NO_ANSWER', 'KUBE_SERVER_FAULT'])

/**
 * How long to wait after try number `tries` before the call is tried again, in ms; undefined when it must not be. Everything may be repeated that
 * certainly did not happen: no connection, 429, or a 503 that names a time. Reads may be repeated anyhow.
 */
export function retryDelayMs(
  call: { kind: CallKind; tries: number; maxTries: number; remainingMs: number },
  error: KubeError,
  random: () => number = Math.random,
): number | undefined {
  if (call.tries >= call.maxTries || !mayRepeat(call.kind, error)) return undefined
  const wait = Math.max(error.retryAfterMs ?? 0, backoffMs(POLICY, call.tries - 1, random))
  return wait < call.remainingMs ? wait : undefined
}

function mayRepeat(kind: CallKind, error: KubeError): boolean {
  if (error.code === 'KUBE_UNREACHABLE' || error.isTooMany) return true
  if (error.status === 503 && error.retryAfterMs !== undefined) return true
  return kind === 'read' && AGAIN_FOR_READS.has(error.code)
}
