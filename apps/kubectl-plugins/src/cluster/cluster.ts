import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import {
  type KubeClient,
  KubeError,
  type ListOptions,
  NODES,
  type Node,
  type Resource,
} from '@upgrade-hub/kube'
import { NotFoundError } from '../errors.ts'
import { JOBS, TASKS } from './resources.ts'

const PAGE = 500
/** A person has to wait for the second try. */
const TRIES = 2

/** Which tasks. What is asked of the API server as a field selector. */
export interface TaskSelection {
  readonly job?: string | undefined
  readonly node?: string
  readonly phase?: string
  readonly active?: boolean
}

/** The calls of the plugins: each bounded in time and length, with errors that say what to do. */
export class Cluster {
  readonly client: KubeClient
  readonly #limits: { readonly timeoutMs: number; readonly maxTries: number; readonly signal: AbortSignal }

  constructor(client: KubeClient, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }) {
    this.client = client
    this.#limits = { timeoutMs, maxTries: TRIES, signal }
  }

  /** API-server time, ms since the epoch. */
  now(): number {
    return this.client.serverNow()
  }

  /** @throws NotFoundError */
  job(name: string): Promise<NodeUpgradeJob> {
    const hint = `there is no NodeUpgradeJob ${name}: kubectl nodeupgrade status lists those there are`
    return found(this.get(JOBS, name), hint)
  }

  /** @throws NotFoundError */
  node(name: string): Promise<Node> {
    return found(this.get(NODES, name), `there is no Node ${name}`)
  }

  /** The newest first. */
  async jobs(most = 2_000): Promise<NodeUpgradeJob[]> {
    const jobs = await this.list(JOBS, {}, most)
    return jobs.sort(
      (a, b) => created(b).localeCompare(created(a)) || (a.metadata.name < b.metadata.name ? -1 : 1),
    )
  }

  nodes(most = 50_000): Promise<Node[]> {
    return this.list(NODES, {}, most)
  }

  tasks(selection: TaskSelection, most: number): Promise<NodeUpgradeTask[]> {
    return this.list(TASKS, { fieldSelector: fieldSelectorOf(selection) }, most)
  }

  createJob(job: NodeUpgradeJob, dryRun = false): Promise<NodeUpgradeJob> {
    return this.client.create(JOBS, job, { ...this.#limits, dryRun, fieldManager: FIELD_MANAGER })
  }

  /** A merge patch that holds only for the object that was read. */
  patchJob({ metadata }: NodeUpgradeJob, body: object, dryRun = false): Promise<NodeUpgradeJob> {
    const { name, resourceVersion } = metadata
    return this.client.patch(
      JOBS,
      name,
      { ...body, metadata: { resourceVersion } },
      { ...this.#limits, dryRun, fieldManager: FIELD_MANAGER },
    )
  }

  patchNode(name: string, body: object, dryRun = false): Promise<Node> {
    return this.client.patch(NODES, name, body, { ...this.#limits, dryRun, fieldManager: FIELD_MANAGER })
  }

  /** Any other object. */
  get<T>(of: Resource<T>, name: string, namespace?: string): Promise<T> {
    return this.client.get(of, name, { ...this.#limits, ...(namespace === undefined ? {} : { namespace }) })
  }

  /** Any other path. */
  raw(path: string, options: { method?: 'GET' | 'POST'; body?: unknown } = {}): Promise<unknown> {
    return this.client.raw(path, { ...this.#limits, ...options })
  }

  /** All pages up to `most` objects. */
  async list<T>(of: Resource<T>, options: ListOptions, most: number): Promise<T[]> {
    const items: T[] = []
    let next: string | undefined
    do {
      const limit = Math.min(PAGE, most - items.length)
      const page = await this.client.list(of, {
        ...options,
        ...this.#limits,
        limit,
        ...(next ? { continue: next } : {}),
      })
      items.push(...page.items)
      next = page.metadata.continue
    } while (next && items.length < most)
    return items.slice(0, most)
  }

  close(): Promise<void> {
    return this.client.close()
  }
}

/** Who owns what the plugins set. */
const FIELD_MANAGER = 'kubectl-nodeupgrade'

/** `spec.jobName=a,status.phase=Pending` */
export function fieldSelectorOf({ job, node, phase, active }: TaskSelection): string {
  return [
    job === undefined ? '' : `spec.jobName=${job}`,
    node === undefined ? '' : `spec.nodeName=${node}`,
    phase === undefined ? '' : `status.phase=${phase}`,
    active ? 'status.active=true' : '',
  ]
    .filter(Boolean)
    .join(',')
}

async function found<T>(answer: Promise<T>, hint: string): Promise<T> {
  try {
    return await answer
  } catch (error) {
    // A kind that is not served answers 404 too, without a name in its Status.
    const isName = error instanceof KubeError && error.isNotFound && error.reason === 'NotFound'
    throw isName ? new NotFoundError(hint) : error
  }
}

function created({ metadata }: { metadata: { creationTimestamp?: string } }): string {
  return metadata.creationTimestamp ?? ''
}
