import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { messageOf } from '@upgrade-hub/core'
import { currentAnswer, isEnd, RELEASE_FINALIZER, statusOf } from '@upgrade-hub/rollout'
import { TASKS } from '../kube-api.ts'
import type { Term } from './term.ts'

const MARKS_MS = 60_000
/** Marks are looked at this many times for one look at all tasks. */
const TASKS_EVERY = 30
const PAGE = 500

/**
 * What no event tells of: marks whose task went unseen, tasks whose job is gone, cancels that were answered after their job had
 * ended.
 */
export class Sweep {
  readonly #term: Term

  constructor(term: Term) {
    this.#term = term
  }

  /** Sweeps at once and then from time to time, until the term ends. */
  async run(): Promise<void> {
    const { clock, log } = this.#term.options
    const { signal } = this.#term
    for (let round = 0; !signal.aborted; round++) {
      try {
        this.#marks()
        if (round % TASKS_EVERY === 0) await this.#tasks()
      } catch (error) {
        if (!signal.aborted) log.warn({ reason: messageOf(error) }, 'the sweep failed and comes again')
      }
      await clock.sleep(MARKS_MS, signal).catch(() => undefined)
    }
  }

  #marks(): void {
    for (const node of this.#term.options.nodes.list()) if (node.hold) this.#term.queues.marks.add(node.name)
  }

  async #tasks(): Promise<void> {
    const { client } = this.#term.options
    const { signal } = this.#term
    let next: string | undefined
    do {
      const page = await client.list(TASKS, { limit: PAGE, ...(next ? { continue: next } : {}), signal })
      for (const task of page.items) await this.#look(task)
      next = page.metadata.continue
    } while (next)
  }

  async #look(task: NodeUpgradeTask): Promise<void> {
    const { name, uid } = task.spec.owner
    if (this.#term.open.get(name)) return
    const isOrphan = this.#term.job(name)?.metadata.uid !== uid
    if (isOrphan && task.metadata.finalizers?.includes(RELEASE_FINALIZER)) this.#term.open.open(name, uid)
    else if (isAnswered(task)) await this.#deactivate(task)
  }

  async #deactivate({ metadata }: NodeUpgradeTask): Promise<void> {
    const { client } = this.#term.options
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, status: { active: 'false' } }
    await this.#term.write((signal) =>
      client.patch(TASKS, metadata.name, body, { subresource: 'status', signal }),
    )
  }
}

function isAnswered(task: NodeUpgradeTask): boolean {
  const status = statusOf(task)
  return isEnd(status.phase) && status.active === 'true' && currentAnswer(status) !== undefined
}
