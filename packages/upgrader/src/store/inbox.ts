import { Type } from '@upgrade-hub/core/schema'
import { type Prepare, validate } from '@upgrade-hub/protocol'
import type { Static } from 'typebox'
import { UnreadableError } from '../errors.ts'
import { createExclusive, removeDurable, writeDurable } from '../host/durable.ts'
import { readJson } from '../host/read.ts'
import type { Intent } from '../machine/state.ts'
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

const GateFile = Type.Object({
  v: Type.Literal(1),
  by: Type.Union([Type.Literal('cancel'), Type.Literal('stop')]),
  /** Records that the journal had when its updater passed: a shorter one has lost some. */
  seq: Type.Optional(Seq),
})
/** Who passed the gate before the stop: the cancel, or the updater. */
export type GateSide = 'cancel' | 'stop'

export interface Gate {
  readonly by: GateSide
  readonly seq: number
}

const checkPrepare = checker(StoredPrepare)
const checkPermit = checker(StoredPermit)
const checkCancel = checker(StoredCancel)
const checkGate = checker(GateFile)

/**
 * What edgehub and a person have put down for one attempt; every write is durable. A damaged note counts as none, because
 * its author writes it again when asked again.
 */
export class Inbox {
  readonly #paths: AttemptPaths

  constructor(paths: AttemptPaths) {
    this.#paths = paths
  }

  prepare(): Promise<Intent | undefined> {
    return orNothing(
      readJson(this.#paths.prepare, (value) => {
        const { prepare, local } = checkPrepare(value)
        return { prepare: validate('Prepare', prepare), local }
      }),
    )
  }

  writePrepare(prepare: Prepare, local: boolean): Promise<void> {
    return writeDurable(this.#paths.prepare, JSON.stringify({ v: 1, prepare, local }))
  }

  permit(): Promise<StoredPermit | undefined> {
    return orNothing(readJson(this.#paths.permit, checkPermit))
  }

  writePermit(permit: Omit<StoredPermit, 'v'>): Promise<void> {
    return writeDurable(this.#paths.permit, JSON.stringify({ v: 1, ...permit }))
  }

  cancel(): Promise<StoredCancel | undefined> {
    return orNothing(readJson(this.#paths.cancel, checkCancel))
  }

  writeCancel(cancel: Omit<StoredCancel, 'v'>): Promise<void> {
    return writeDurable(this.#paths.cancel, JSON.stringify({ v: 1, ...cancel }))
  }

  async gate(): Promise<Gate | undefined> {
    try {
      const gate = await readJson(this.#paths.gate, checkGate)
      return gate && { by: gate.by, seq: gate.seq ?? 0 }
    } catch (error) {
      if (error instanceof UnreadableError) return this.#gateByCancel()
      throw error
    }
  }

  /** What a damaged gate must have said; undefined when nobody has asked for a cancel. */
  async #gateByCancel(): Promise<Gate | undefined> {
    const cancel = await this.cancel()
    return cancel && { by: cancel.value === 'tooLate' ? 'stop' : 'cancel', seq: 0 }
  }

  /** Passes the gate for one side, or says which side was there before. `seq` is the length of the journal. */
  async passGate(by: GateSide, seq = 0): Promise<GateSide> {
    const text = JSON.stringify({ v: 1, by, seq })
    if (await createExclusive(this.#paths.gate, text)) return by
    const there = await this.gate()
    if (there) return there.by
    await removeDurable(this.#paths.gate)
    return (await createExclusive(this.#paths.gate, text)) ? by : ((await this.gate())?.by ?? by)
  }

  /** Opens the gate again for a later proceed; only the updater that passed it may. */
  async releaseGate(): Promise<void> {
    if ((await this.gate())?.by === 'stop') await removeDurable(this.#paths.gate)
  }

  /** The number of the prepare that a person has confirmed. */
  async confirmed(): Promise<number | undefined> {
    return (await orNothing(readJson(this.#paths.confirmed, checkConfirmed)))?.intentSeq
  }

  writeConfirmed(intentSeq: number): Promise<void> {
    return writeDurable(this.#paths.confirmed, JSON.stringify({ v: 1, intentSeq }))
  }
}

/** What a damaged file says. */
export async function orNothing<T>(reading: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof UnreadableError) return undefined
    throw error
  }
}

const checkConfirmed = checker(Type.Object({ v: Type.Literal(1), intentSeq: Seq }))
