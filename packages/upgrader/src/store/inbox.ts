import { Type } from '@upgrade-hub/core/schema'
import { type Prepare, validate } from '@upgrade-hub/protocol'
import type { Static } from 'typebox'
import { createExclusive, removeDurable, writeDurable } from '../host/durable.ts'
import { readJson } from '../host/read.ts'
import { checker } from './checker.ts'
import type { AttemptPaths } from './paths.ts'

const Seq = Type.Integer({ minimum: 0 })
const Text = Type.String({ maxLength: 1024 })

/** The intent `prepare` as it is kept. */
const StoredPrepare = Type.Object({
  v: Type.Literal(1),
  prepare: Type.Unknown(),
  /** Begun by hand on this node: there is no hub that waits for a result. */
  local: Type.Boolean(),
})
export interface StoredPrepare {
  readonly prepare: Prepare
  readonly local: boolean
}

/** The permission to stop the agent, bound to one boot. */
const StoredPermit = Type.Object({
  v: Type.Literal(1),
  intentSeq: Seq,
  epoch: Seq,
  boot: Text,
  /** CLOCK_MONOTONIC of that boot, in ms. */
  validUntilMs: Type.Number(),
})
export type StoredPermit = Static<typeof StoredPermit>

const StoredCancel = Type.Object({
  v: Type.Literal(1),
  intentSeq: Seq,
  value: Type.Union([Type.Literal('done'), Type.Literal('tooLate'), Type.Literal('tombstoned')]),
})
export type StoredCancel = Static<typeof StoredCancel>

const Gate = Type.Object({
  v: Type.Literal(1),
  by: Type.Union([Type.Literal('cancel'), Type.Literal('stop')]),
})
/** Who passed the gate before the stop: the cancel, or the updater. */
export type GateSide = 'cancel' | 'stop'

const checkPrepare = checker(StoredPrepare)
const checkPermit = checker(StoredPermit)
const checkCancel = checker(StoredCancel)
const checkGate = checker(Gate)

/** What edgehub and a person have put down for one attempt; every write is durable. @throws UnreadableError */
export class Inbox {
  readonly #paths: AttemptPaths

  constructor(paths: AttemptPaths) {
    this.#paths = paths
  }

  prepare(): Promise<StoredPrepare | undefined> {
    return readJson(this.#paths.prepare, (value) => {
      const { prepare, local } = checkPrepare(value)
      return { prepare: validate('Prepare', prepare), local }
    })
  }

  writePrepare(prepare: Prepare, local: boolean): Promise<void> {
    return writeDurable(this.#paths.prepare, JSON.stringify({ v: 1, prepare, local }))
  }

  permit(): Promise<StoredPermit | undefined> {
    return readJson(this.#paths.permit, checkPermit)
  }

  writePermit(permit: Omit<StoredPermit, 'v'>): Promise<void> {
    return writeDurable(this.#paths.permit, JSON.stringify({ v: 1, ...permit }))
  }

  cancel(): Promise<StoredCancel | undefined> {
    return readJson(this.#paths.cancel, checkCancel)
  }

  writeCancel(cancel: Omit<StoredCancel, 'v'>): Promise<void> {
    return writeDurable(this.#paths.cancel, JSON.stringify({ v: 1, ...cancel }))
  }

  async gate(): Promise<GateSide | undefined> {
    return (await readJson(this.#paths.gate, checkGate))?.by
  }

  /** Passes the gate for one side, or says which side was there before. */
  async passGate(by: GateSide): Promise<GateSide> {
    if (await createExclusive(this.#paths.gate, JSON.stringify({ v: 1, by }))) return by
    return (await this.gate()) ?? by
  }

  /** Opens the gate again for a later proceed; only the updater that passed it may. */
  async releaseGate(): Promise<void> {
    if ((await this.gate()) === 'stop') await removeDurable(this.#paths.gate)
  }

  /** The number of the prepare that a person has confirmed. */
  async confirmed(): Promise<number | undefined> {
    return (await readJson(this.#paths.confirmed, checkConfirmed))?.intentSeq
  }

  writeConfirmed(intentSeq: number): Promise<void> {
    return writeDurable(this.#paths.confirmed, JSON.stringify({ v: 1, intentSeq }))
  }
}

const checkConfirmed = checker(Type.Object({ v: Type.Literal(1), intentSeq: Seq }))
