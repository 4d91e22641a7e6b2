import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DialState, dial, type EdgeDialer } from '@upgrade-hub/channel'
import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import { readTlsFiles } from '@upgrade-hub/pki/identity'
import {
  type Frame,
  type Hello,
  OPERATION,
  type Stored,
  type Welcome,
  type WireError,
} from '@upgrade-hub/protocol'
import {
  type AttemptStore,
  acquireLock,
  bootId,
  type EdgeConfig,
  launchUpdater,
  machineId,
  makeFolder,
  openAttemptStore,
  openSpool,
  postResult,
  probeVersion,
  type Spool,
} from '@upgrade-hub/upgrader'
import { controlSocket, performControl } from '@upgrade-hub/upgrader/control'
import { AgentProbe } from './agent-probe.ts'
import { AttemptLoop } from './attempts.ts'
import { openControlSocket } from './control-socket.ts'
import { AlreadyRunningError } from './errors.ts'
import { makeHello } from './hello.ts'
import { Intents } from './intents.ts'
import { renewCertificate } from './renew-process.ts'
import { keepCertificateFresh } from './renewal.ts'
import { Reporter } from './reporter.ts'
import { ResultLoop } from './results.ts'
import { hostTimeZone } from './time-zone.ts'
import { Updaters } from './updaters.ts'

export interface EdgeHubOptions {
  readonly config: EdgeConfig
  readonly configPath: string
  /** How edgeadm is run: an absolute program and its first arguments. */
  readonly edgeadm: readonly [string, ...string[]]
  readonly clock: Clock
  readonly log: Logger
  /** Ends the session in order; updaters go on. */
  readonly signal: AbortSignal
}

/** The first hello waits this long for the agent to say its version. */
const FIRST_PROBE_MS = 2_000

/**
 * Runs the daemon until the signal aborts. It may be killed at any moment: all that matters is on disk.
 * @throws LockHeldError when another edgehub lives on the same state folder
 */
export async function runEdgeHub(options: EdgeHubOptions): Promise<void> {
  const { state } = options.config.paths
  await makeFolder(state)
  const lock = await acquireLock(join(state, 'edgehub.lock'), 'edgehub', options)
  try {
    await runAlone(options)
  } finally {
    await lock.release()
  }
}

async function runAlone(options: EdgeHubOptions): Promise<void> {
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const hub = new EdgeHub({ ...options, signal }, await bootId(), await machineId())
  try {
    await hub.run()
  } finally {
    stop.abort()
  }
}

/** The parts and who talks to whom. Nothing is decided here. */
class EdgeHub {
  readonly #options: EdgeHubOptions
  readonly #bootID: string
  readonly #machineID: string
  readonly #store: AttemptStore
  readonly #spool: Spool
  readonly #probe: AgentProbe
  readonly #dialer: EdgeDialer
  readonly #intents: Intents
  readonly #attempts: AttemptLoop
  readonly #results: ResultLoop
  #nodeUID: string | undefined
  #sessionState: DialState = { state: 'connecting', attempt: 0 }

  constructor(options: EdgeHubOptions, bootID: string, machineID: string) {
    const { config, configPath, edgeadm, clock, log } = options
    this.#options = options
    this.#bootID = bootID
    this.#machineID = machineID
    this.#store = openAttemptStore(config, clock)
    this.#spool = openSpool(config)
    const [agent] = config.components
    this.#probe = new AgentProbe({
      bootID,
      ask: () => (agent ? probeVersion(agent, options.signal) : Promise.resolve('')),
      log,
    })
    this.#dialer = this.#makeDialer()
    const store = this.#store
    const launch = (id: string) => launchUpdater({ config, configPath, id, edgeadm, log })
    this.#attempts = new AttemptLoop({
      store,
      updaters: new Updaters({ store, launch, clock, log }),
      reporter: new Reporter(config.nodeName, (...frame) => this.#dialer.send(...frame)),
      onEnded: () => this.#onEnded(),
      clock,
      log,
    })
    this.#intents = new Intents({
      store,
      nodeUID: () => this.#nodeUID,
      send: (...frame) => this.#dialer.send(...frame),
      onStored: () => this.#attempts.poke(),
      clock,
      log,
    })
    this.#results = new ResultLoop({
      spool: this.#spool,
      post: (result, signal) => postResult(config, result, signal),
      send: (...frame) => this.#dialer.send(...frame),
      clock,
      log,
    })
  }

  async run(): Promise<void> {
    const { signal, config, configPath, edgeadm, clock, log } = this.#options
    this.#probeAgain()
    const control = await this.#openControl()
    signal.addEventListener('abort', () => control?.close(), { once: true })
    await Promise.all([
      this.#dialer.run(),
      this.#attempts.run(signal),
      this.#results.run(signal),
      keepCertificateFresh({
        readCertificate: () => readFile(config.certificates.cert, 'utf8'),
        renew: (until) => renewCertificate({ edgeadm, configPath, signal: until }),
        clock,
        log,
        signal,
      }),
    ])
  }

  async #openControl(): Promise<{ close(): void } | undefined> {
    const { config, clock, log } = this.#options
    try {
      return await openControlSocket({
        path: controlSocket(config),
        perform: async (request) => {
          const answer = await performControl(config, request, clock)
          return { ...answer, data: { ...answer.data, session: this.#sessionState } }
        },
        log,
      })
    } catch (error) {
      if (error instanceof AlreadyRunningError) throw error
      log.warn({ error: messageOf(error) }, 'edgeadm ctl will work without this program')
      return undefined
    }
  }

  #makeDialer(): EdgeDialer {
    const { config, clock, log, signal } = this.#options
    return dial({
      url: config.hub.websocket,
      nodeName: config.nodeName,
      tls: () => readTlsFiles(config.certificates),
      hello: () => this.#hello(),
      onWelcome: (welcome) => this.#onWelcome(welcome),
      onFrame: (frame) => this.#onFrame(frame),
      probe: () => this.#probe.current,
      onStateChange: (state) => this.#onStateChange(state),
      clock,
      log,
      signal,
    })
  }

  async #hello(): Promise<Hello> {
    const { clock, signal } = this.#options
    if (!this.#probe.current) await Promise.race([this.#probe.settled(), clock.sleep(FIRST_PROBE_MS, signal)])
    return makeHello({
      bootID: this.#bootID,
      machineID: this.#machineID,
      timeZone: await hostTimeZone(),
      registerNode: this.#options.config.registerNode,
      probe: this.#probe.current,
      attempts: await this.#store.attempts(),
      undelivered: await this.#spool.size(),
    })
  }

  #onStateChange(state: DialState): void {
    this.#sessionState = state
    if (state.state === 'open')
      this.#options.log.info({ hub: this.#options.config.hub.websocket }, 'session open')
  }

  #onWelcome(welcome: Welcome): void {
    this.#nodeUID = welcome.nodeUID
    this.#background(this.#attempts.welcome(welcome))
    this.#results.poke()
  }

  #onFrame(frame: Frame): void {
    if (this.#intents.take(frame)) return
    if (frame.operation === OPERATION.stored) {
      this.#background(this.#results.onStored((frame.content as Stored).HistoryID))
    } else if (frame.operation === OPERATION.error) {
      const { code, message } = frame.content as WireError
      this.#options.log.warn({ code, message }, 'the hub could not take a frame')
    }
  }

  #onEnded(): void {
    this.#probeAgain()
    this.#results.poke()
  }

  #probeAgain(): void {
    this.#background(
      this.#probe.refresh().then((changed) => {
        if (changed) this.#dialer.keepalive()
      }),
    )
  }

  #background(work: Promise<unknown>): void {
    work.catch((error: unknown) =>
      this.#options.log.error({ error: messageOf(error) }, 'work in the background failed'),
    )
  }
}
