import { mkdir, rm, writeFile } from 'node:fs/promises'
import { type Clock, messageOf } from '@upgrade-hub/core'
import type { Component, ServiceConfig } from '../config.ts'
import { CommandError, StepError } from '../errors.ts'
import { run, systemProgram } from '../host/command.ts'
import type { Service, ServiceState } from './service.ts'
import { waitUntil } from './wait.ts'

const COMMAND_TIMEOUT_MS = 30_000
const START_TIMEOUT_MS = 90_000
const KILL_WAIT_MS = 5_000
const POLL_MS = 100
const RUNTIME_UNITS = '/run/systemd/system'
const PROPERTIES = 'LoadState,ActiveState,MainPID,NRestarts,ExecMainStartTimestampMonotonic,ExecStart'

/** An agent as a systemd unit, driven by systemctl's absolute path and argv. */
export class SystemdService implements Service {
  readonly #component: Component
  readonly #unit: string
  readonly #clock: Clock

  constructor(component: Component, settings: Extract<ServiceConfig, { manager: 'systemd' }>, clock: Clock) {
    this.#component = component
    this.#unit = settings.unit
    this.#clock = clock
  }

  async state(): Promise<ServiceState> {
    return stateOf(await this.#show())
  }

  async problem(): Promise<string | undefined> {
    try {
      return unitProblem(await this.#show(), this.#unit, this.#component.binary)
    } catch (error) {
      return messageOf(error)
    }
  }

  async hold(): Promise<void> {
    const folder = `${RUNTIME_UNITS}/${this.#unit}.d`
    await mkdir(folder, { recursive: true, mode: 0o755 })
    await writeFile(`${folder}/90-upgrade-hub-hold.conf`, '[Service]\nRestart=no\n', { mode: 0o644 })
    await this.#systemctl(['daemon-reload'])
  }

  async release(): Promise<void> {
    await rm(`${RUNTIME_UNITS}/${this.#unit}.d/90-upgrade-hub-hold.conf`, { force: true })
    await this.#systemctl(['daemon-reload'])
  }

  async stop(): Promise<void> {
    await this.#systemctl(['stop', '--no-block', this.#unit])
    if (await this.#isGone(this.#component.stopSeconds * 1000)) return
    await this.#systemctl(['kill', '--signal=SIGKILL', this.#unit])
    if (!(await this.#isGone(KILL_WAIT_MS))) throw new StepError('StopFailed', `${this.#unit} does not stop`)
  }

  async start(): Promise<void> {
    try {
      await this.#systemctl(['reset-failed', this.#unit]).catch(() => undefined)
      await this.#systemctl(['start', this.#unit], START_TIMEOUT_MS)
    } catch (error) {
      throw new StepError('StartFailed', messageOf(error), { cause: error })
    }
  }

  #isGone(limitMs: number): Promise<boolean> {
    return waitUntil(this.#clock, limitMs, POLL_MS, async () => {
      const state = parseProperties(await this.#show())['ActiveState']
      return state === 'inactive' || state === 'failed'
    })
  }

  #show(): Promise<string> {
    return this.#systemctl(['show', `--property=${PROPERTIES}`, this.#unit])
  }

  async #systemctl(args: readonly string[], timeoutMs = COMMAND_TIMEOUT_MS): Promise<string> {
    const program = await systemProgram('systemctl')
    if (!program) throw new CommandError('systemctl', 'this host has none')
    return run(program, args, { timeoutMs })
  }
}

/** Reads `systemctl show`. */
export function stateOf(show: string): ServiceState {
  const { ActiveState, MainPID, NRestarts, ExecMainStartTimestampMonotonic } = parseProperties(show)
  return {
    running: ActiveState === 'active' && MainPID !== '0',
    starting: ActiveState === 'activating' || ActiveState === 'reloading',
    identity: `${MainPID}:${ExecMainStartTimestampMonotonic}:${NRestarts}`,
  }
}

/** Why a unit cannot be used for a program; undefined when it can. */
export function unitProblem(show: string, unit: string, binary: string): string | undefined {
  const { LoadState, ExecStart } = parseProperties(show)
  if (LoadState !== 'loaded') return `unit ${unit} is ${LoadState ?? 'unknown'}`
  if (!ExecStart?.includes(`path=${binary} `)) return `unit ${unit} does not start ${binary}`
  return undefined
}

function parseProperties(show: string): Readonly<Record<string, string>> {
  const lines = show.split('\n').map((line) => line.split(/=(.*)/s))
  return Object.fromEntries(lines.filter(([key]) => key).map(([key, value]) => [key, value ?? '']))
}
