import type { Clock } from '@upgrade-hub/core'
import type { HealthProbe } from '@upgrade-hub/protocol'
import { StepError } from '../errors.ts'

/** Kubernetes' defaults. @see https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/ */
const DEFAULTS = { initialDelay: 0, period: 10, timeout: 1, success: 1, failure: 3 }

/** Asks one probe: why it fails, or undefined when it is fine. */
export type AskProbe = (probe: HealthProbe, timeoutMs: number) => Promise<string | undefined>

interface Watched {
  readonly probe: HealthProbe
  dueMs: number
  successes: number
  failures: number
}

/** Follows probes by their own clocks from the moment it is made. */
export class ProbeWatch {
  readonly #clock: Clock
  readonly #ask: AskProbe
  readonly #watched: readonly Watched[]

  constructor(probes: readonly HealthProbe[], clock: Clock, ask: AskProbe) {
    this.#clock = clock
    this.#ask = ask
    this.#watched = probes.map((probe) => ({
      probe,
      dueMs: clock.monotonic() + (probe.initialDelaySeconds ?? DEFAULTS.initialDelay) * 1000,
      successes: 0,
      failures: 0,
    }))
  }

  /** True while every probe has been fine as often in a row as it has to be. */
  get isReady(): boolean {
    return this.#watched.every(
      ({ probe, successes }) => successes >= (probe.successThreshold ?? DEFAULTS.success),
    )
  }

  /** Asks what is due. @throws StepError HealthFailed when one has failed as often in a row as it may */
  async look(): Promise<void> {
    const now = this.#clock.monotonic()
    await Promise.all(this.#watched.filter(({ dueMs }) => dueMs <= now).map((one) => this.#lookAt(one)))
  }

  async #lookAt(one: Watched): Promise<void> {
    const { probe } = one
    one.dueMs = this.#clock.monotonic() + (probe.periodSeconds ?? DEFAULTS.period) * 1000
    const problem = await this.#ask(probe, (probe.timeoutSeconds ?? DEFAULTS.timeout) * 1000)
    one.successes = problem === undefined ? one.successes + 1 : 0
    one.failures = problem === undefined ? 0 : one.failures + 1
    if (one.failures >= (probe.failureThreshold ?? DEFAULTS.failure))
      throw new StepError('HealthFailed', `probe ${nameOf(probe)} failed ${one.failures} times: ${problem}`)
  }
}

/** What a person knows a probe by. */
function nameOf({ exec, httpGet, tcpSocket }: HealthProbe): string {
  if (exec) return `exec ${exec.name}`
  if (httpGet) return `http 127.0.0.1:${httpGet.port}${httpGet.path}`
  return `tcp 127.0.0.1:${tcpSocket?.port}`
}
