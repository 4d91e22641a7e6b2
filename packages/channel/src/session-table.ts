import type { Clock } from '@upgrade-hub/core'
import { CLOSE } from '@upgrade-hub/protocol'
import type { AcceptedSession } from './edge-session.ts'

/** Two sessions that replace each other within this time are two machines, not one that reconnects. */
const FLIP_FLOP_MS = 30_000
const FLIP_FLOPS_REPORTED = 3

/** One session a node: the newest wins, and machines that fight over a name are noticed. */
export class SessionTable {
  readonly byNode = new Map<string, AcceptedSession>()
  readonly #clock: Clock
  readonly #onFlipFlop: (nodeName: string) => void
  #replacements = new Map<string, { times: number; since: number }>()

  constructor(clock: Clock, onFlipFlop: (nodeName: string) => void) {
    this.#clock = clock
    this.#onFlipFlop = onFlipFlop
  }

  add(session: AcceptedSession): void {
    const older = this.byNode.get(session.nodeName)
    this.byNode.set(session.nodeName, session)
    if (!older) return
    older.close(CLOSE.superseded, 'Superseded')
    this.#countReplacement(session.nodeName)
  }

  /** Only if the node's session is still this one. */
  remove(session: AcceptedSession): void {
    if (this.byNode.get(session.nodeName) === session) this.byNode.delete(session.nodeName)
  }

  /** Forgets old replacements, so that the memory of them stays bounded. */
  sweep(): void {
    const now = this.#clock.monotonic()
    for (const [node, { since }] of this.#replacements) {
      if (now - since > FLIP_FLOP_MS) this.#replacements.delete(node)
    }
  }

  #countReplacement(nodeName: string): void {
    const seen = this.#replacements.get(nodeName) ?? { times: 0, since: this.#clock.monotonic() }
    seen.times += 1
    this.#replacements.set(nodeName, seen)
    if (seen.times === FLIP_FLOPS_REPORTED) this.#onFlipFlop(nodeName)
  }
}
