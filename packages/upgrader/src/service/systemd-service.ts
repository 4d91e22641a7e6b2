import { mkdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { type Clock, messageOf } from '@upgrade-hub/core'
import type { Component, ServiceConfig } from '../config.ts'
import { CommandError, StepError } from '../errors.ts'
import { run, systemProgram } from '../host/command.ts'
import { commandOf } from '../probe.ts'
import type { Service, ServiceState } from './service.ts'
import { waitUntil } from './wait.ts'

const COMMAND_TIMEOUT_MS = 30_000
const KILL_WAIT_MS = 5_000
/** Three seconds in all. */
const MAX_TRIES = 5
const FIRST_RETRY_MS = 200
const POLL_MS = 100
const RUNTIME_UNITS = '/run/systemd/system'
const PROPERTIES =
  'LoadState,ActiveState,SubState,Job,MainPID,NRestarts,ExecMainStartTimestampMonotonic,ExecStart,NeedDaemonReload'

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
      return unitProblem(await this.#show(), this.#unit, commandOf(this.#component, this.#component.binary))
    } catch (error) {
      return messageOf(error)
    }
  }

  async hold(): Promise<void> {
    await mkdir(this.#dropIns, { recursive: true, mode: 0o755 })
    await writeFile(this.#holdFile, '[Service]\nRestart=no\n', { mode: 0o644 })
    await this.#reloadIfNeeded()
  }

  /** Who died between the two halves of an earlier release left a manager that still holds: it is asked, too. */
  async release(): Promise<void> {
    await rm(this.#holdFile, { force: true })
    await rmdir(this.#dropIns).catch(() => undefined)
    await this.#reloadIfNeeded()
  }

  async stop(): Promise<void> {
    await this.#systemctl(['stop', '--no-block', this.#unit])
    if (await this.#isGone(this.#component.stopSeconds * 1000)) return
    await this.#systemctl(['kill', '--signal=SIGKILL', this.#unit])
    if (!(await this.#isGone(KILL_WAIT_MS))) throw new StepError('StopFailed', `${this.#unit} does not stop`)
  }

  /** Only asks for it: at boot the unit may have to wait for others, and `state` says `starting` as long as it does. */
  async start(): Promise<void> {
    try {
      await this.#systemctl(['reset-failed', this.#unit])
      await this.#systemctl(['start', '--no-block', this.#unit])
    } catch (error) {
      throw new StepError('StartFailed', messageOf(error), { cause: error })
    }
  }

  get #dropIns(): string {
    return `${RUNTIME_UNITS}/${this.#unit}.d`
  }

  get #holdFile(): string {
    return `${this.#dropIns}/90-upgrade-hub-hold.conf`
  }

  #isGone(limitMs: number): Promise<boolean> {
    return waitUntil(this.#clock, limitMs, POLL_MS, async () => {
      const state = parseProperties(await this.#show())['ActiveState']
      return state === 'inactive' || state === 'failed'
    })
  }

  async #reloadIfNeeded(): Promise<void> {
    const { NeedDaemonReload } = parseProperties(await this.#show())
    if (NeedDaemonReload !== 'no') await this.#systemctl(['daemon-reload'])
  }

  #show(): Promise<string> {
    return this.#systemctl(['show', `--property=${PROPERTIES}`, this.#unit])
  }

  /** A manager that reloads itself, as it does at boot, drops who asks it: everything here may be asked again. */
  async #systemctl(args: readonly string[]): Promise<string> {
    const program = await systemProgram('systemctl')
    if (!program) throw new CommandError('systemctl', 'this host has none')
    for (let tries = 1; ; tries++) {
      try {
        return await run(program, args, { timeoutMs: COMMAND_TIMEOUT_MS })
      } catch (error) {
        if (tries === MAX_TRIES) throw error
        await this.#clock.sleep(FIRST_RETRY_MS * 2 ** (tries - 1))
      }
    }
  }
}

/** Reads `systemctl show`. A unit that waits to be restarted has failed, one with a job of its own is on its way. */
export function stateOf(show: string): ServiceState {
  const { ActiveState, SubState, Job, MainPID, NRestarts, ExecMainStartTimestampMonotonic } =
    parseProperties(show)
  const running = ActiveState === 'active' && SubState === 'running'
  const changing = ActiveState === 'activating' || ActiveState === 'reloading'
  const queued = Job !== undefined && Job !== '' && Job !== '0'
  return {
    running,
    starting: !running && SubState !== 'auto-restart' && (changing || queued),
    identity: `${MainPID}:${ExecMainStartTimestampMonotonic}:${NRestarts}`,
  }
}

/** Why a unit cannot be used for a program; undefined when it can. */
export function unitProblem(show: string, unit: string, command: readonly string[]): string | undefined {
  const { LoadState, ExecStart } = parseProperties(show)
  if (LoadState !== 'loaded') return `unit ${unit} is ${LoadState ?? 'unknown'}`
  const [program, ...first] = command
  const isOurs =
    ExecStart?.includes(`path=${program} `) && first.every((word) => ExecStart.includes(` ${word} `))
  if (!isOurs) return `unit ${unit} does not start ${command.join(' ')}`
  return undefined
}

function parseProperties(show: string): Readonly<Record<string, string>> {
  const lines = show.split('\n').map((line) => line.split(/=(.*)/s))
  return Object.fromEntries(lines.filter(([key]) => key).map(([key, value]) => [key, value ?? '']))
}
