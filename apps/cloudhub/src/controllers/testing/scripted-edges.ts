import type { NodeUpgradeTask, TaskEdge } from '@upgrade-hub/api'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { Informer, type KubeClient, KubeError, NODES } from '@upgrade-hub/kube'
import { TASKS } from '../../kube-api.ts'

/** How an edge takes an intent: `prepared`, a code to refuse with, an outcome to end with, or nothing at all. */
export interface Script {
  readonly prepare?: string
  readonly proceed?: string
  readonly cancel?: string
}

const DIGEST = `sha256:${'a'.repeat(64)}`

/**
 * Edges and the channel in one: they answer every intent at once, by writing `status.edge` as the channel would, and upgraded
 * nodes show their new version.
 */
export class ScriptedEdges {
  readonly scripts = new Map<string, Script>()
  /** Permissions that were acted on, as `node/attempt/seq`. */
  readonly swaps: string[] = []
  writes = 0
  readonly #client: KubeClient
  readonly #answered = new Set<string>()

  constructor(client: KubeClient) {
    this.#client = client
  }

  async run(signal: AbortSignal): Promise<void> {
    const tasks = new Informer({
      client: this.#client,
      resource: TASKS,
      clock: systemClock,
      log: silentLogger,
    })
    tasks.onChange(({ type, item }) => {
      if (type !== 'deleted') void this.#look(item)
    })
    await tasks.run(signal)
  }

  async #look(task: NodeUpgradeTask): Promise<void> {
    const { active, intent, attempt = 0 } = task.status ?? {}
    const key = `${task.spec.nodeName}/${attempt}/${intent?.seq}`
    if (active !== 'true' || !intent?.verb || this.#answered.has(`${task.metadata.uid} ${key}`)) return
    const { [intent.verb]: word = DEFAULTS[intent.verb] } = this.scripts.get(task.spec.nodeName) ?? {}
    if (word === 'silence') return
    this.#answered.add(`${task.metadata.uid} ${key}`)
    if (intent.verb === 'proceed' && word in ENDS) await this.#upgrade(task, word, key)
    else await this.#say(task, { answer: answerOf(word, intent.seq ?? 0) })
  }

  async #upgrade(task: NodeUpgradeTask, outcome: string, key: string): Promise<void> {
    const { nodeName, version } = task.spec
    this.swaps.push(key)
    const nodeInfo = { kubeletVersion: `v1.28.6-kubeedge-${version}` }
    if (outcome === 'Succeeded')
      await this.#client.patch(NODES, nodeName, { status: { nodeInfo } }, { subresource: 'status' })
    const result = {
      attempt: task.status?.attempt ?? 0,
      outcome,
      code: ENDS[outcome] ?? '',
      from: 'v1.11.0',
      to: version,
    }
    await this.#say(task, { results: [result] })
  }

  async #say(task: NodeUpgradeTask, said: Partial<TaskEdge>): Promise<void> {
    for (;;) {
      const found = await this.#client.list(TASKS, { fieldSelector: `metadata.name=${task.metadata.name}` })
      const [stored] = found.items
      if (!stored) return
      const { metadata, status } = stored
      const edge = {
        ...status?.edge,
        attempt: status?.attempt ?? 0,
        seq: (status?.edge?.seq ?? 0) + 1,
        ...said,
      }
      const body = { metadata: { resourceVersion: metadata.resourceVersion }, status: { edge } }
      try {
        await this.#client.patch(TASKS, metadata.name, body, { subresource: 'status' })
        this.writes += 1
        return
      } catch (error) {
        if (error instanceof KubeError && error.isNotFound) return
        if (!(error instanceof KubeError && error.isConflict)) throw error
      }
    }
  }
}

const DEFAULTS = { prepare: 'prepared', proceed: 'Succeeded', cancel: 'done' }
const ENDS: Record<string, string> = {
  Succeeded: 'Upgraded',
  RolledBack: 'HealthFailed',
  RollbackFailed: 'RollbackFailed',
}

function answerOf(word: string, seq: number) {
  if (word === 'prepared') return { seq, value: word, indexDigest: DIGEST, fromVersion: 'v1.11.0' }
  if (word === 'done' || word === 'tooLate' || word === 'tombstoned') return { seq, value: word }
  return { seq, value: 'refused', code: word }
}
