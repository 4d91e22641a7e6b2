import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Clock, messageOf } from '@upgrade-hub/core'
import { Type } from '@upgrade-hub/core/schema'
import type { Component, ServiceConfig } from '../config.ts'
import { StepError } from '../errors.ts'
import { bootId } from '../host/boot.ts'
import { SAFE_ENV } from '../host/command.ts'
import { removeDurable, writeDurable } from '../host/durable.ts'
import { leadersWithEnv, type ProcessInfo, processInfo, signalProcess } from '../host/process.ts'
import { readJson } from '../host/read.ts'
import { commandOf } from '../probe.ts'
import { checker } from '../store/checker.ts'
import type { Service, ServiceState } from './service.ts'
import { waitUntil } from './wait.ts'

/** Marks the agent: one that was started by an updater that died before it wrote the pid file is found by it. */
const MARKER = 'UPGRADE_HUB_SERVICE'
const KILL_WAIT_MS = 5_000
const POLL_MS = 25

const checkPidFile = checker(
  Type.Object({ pid: Type.Integer({ minimum: 1 }), startTime: Type.String(), boot: Type.String() }),
)

/** An agent as a process of its own: a session, a pid file with the start time, a log file. For hosts without systemd. */
export class ProcessService implements Service {
  readonly #component: Component
  readonly #settings: Extract<ServiceConfig, { manager: 'process' }>
  readonly #clock: Clock

  constructor(component: Component, settings: Extract<ServiceConfig, { manager: 'process' }>, clock: Clock) {
    this.#component = component
    this.#settings = settings
    this.#clock = clock
  }

  async state(): Promise<ServiceState> {
    const found = (await this.#fromPidFile()) ?? (await this.#marked())[0]
    return {
      running: found !== undefined,
      starting: false,
      identity: found ? `${found.pid}:${found.startTime}` : '',
    }
  }

  problem(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  hold(): Promise<void> {
    return Promise.resolve()
  }

  release(): Promise<void> {
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    await this.#signal('SIGTERM')
    const grace = this.#component.stopSeconds * 1000
    if (!(await this.#isGone(grace))) {
      await this.#signal('SIGKILL')
      if (!(await this.#isGone(KILL_WAIT_MS)))
        throw new StepError('StopFailed', 'the agent does not end, even by SIGKILL')
    }
    await removeDurable(this.#settings.pidFile)
  }

  async start(): Promise<void> {
    if ((await this.state()).running) return
    try {
      const pid = await this.#spawn()
      const info = await processInfo(pid)
      const record = { pid, startTime: info?.startTime ?? '', boot: await bootId() }
      await mkdir(dirname(this.#settings.pidFile), { recursive: true })
      await writeDurable(this.#settings.pidFile, JSON.stringify(record), 0o644)
    } catch (error) {
      throw new StepError('StartFailed', `cannot start the agent: ${messageOf(error)}`, { cause: error })
    }
  }

  async #spawn(): Promise<number> {
    const { args, env, logFile, pidFile } = this.#settings
    await mkdir(dirname(logFile), { recursive: true })
    const log = await open(logFile, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o640)
    try {
      const [program, ...first] = commandOf(this.#component, this.#component.binary)
      const child = spawn(program, [...first, ...args], {
        cwd: '/',
        detached: true,
        env: { ...SAFE_ENV, ...env, [MARKER]: pidFile },
        stdio: ['ignore', log.fd, log.fd],
      })
      await once(child, 'spawn')
      child.unref()
      return child.pid ?? 0
    } finally {
      await log.close()
    }
  }

  async #signal(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    for (const info of await this.#all()) await signalProcess(info, signal)
  }

  #isGone(limitMs: number): Promise<boolean> {
    return waitUntil(this.#clock, limitMs, POLL_MS, async () => (await this.#all()).length === 0)
  }

  async #all(): Promise<readonly ProcessInfo[]> {
    const [first, marked] = await Promise.all([this.#fromPidFile(), this.#marked()])
    return first && !marked.some(({ pid }) => pid === first.pid) ? [first, ...marked] : marked
  }

  #marked(): Promise<readonly ProcessInfo[]> {
    return leadersWithEnv(MARKER, this.#settings.pidFile)
  }

  async #fromPidFile(): Promise<ProcessInfo | undefined> {
    const record = await readJson(this.#settings.pidFile, checkPidFile).catch(() => undefined)
    if (!record || record.boot !== (await bootId())) return undefined
    const info = await processInfo(record.pid)
    return info?.startTime === record.startTime ? info : undefined
  }
}
