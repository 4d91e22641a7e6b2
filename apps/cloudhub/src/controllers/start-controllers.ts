import { HUB_NAMESPACE } from '@upgrade-hub/api'
import type { Clock, Logger, Metrics } from '@upgrade-hub/core'
import {
  CREATE_TIMEOUT_MS,
  type EventRecorder,
  type Informer,
  type KubeClient,
  LeaderElector,
  type Node,
} from '@upgrade-hub/kube'
import type { SlimNode } from '@upgrade-hub/rollout'
import { Term } from './term.ts'

export interface ControllersOptions {
  readonly client: KubeClient
  /** Runs already, shared with the gateway. */
  readonly nodes: Informer<Node, SlimNode>
  readonly recorder: EventRecorder
  /** Names this process in the lease. */
  readonly identity: string
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Where the lease is. Default `upgrade-hub`. */
  readonly namespace?: string
  /**
   * How long a leader whose forerunner did not end in order waits before it plans a job, in ms: until no create of it can
   * arrive. Default: a lease and the time-out of a create.
   */
  readonly planDelayMs?: number
}

export interface Controllers {
  /** Competes for the leadership and leads, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  isLeader(): boolean
}

export const LEASE_NAME = 'upgrade-hub-controllers'
const LEASE_MS = 15_000

/** The controllers of the hub: jobs, tasks and the marks on nodes. One replica leads, the others stand by. */
export function startControllers(options: ControllersOptions): Controllers {
  const { client, identity, clock } = options
  const log = options.log.child({ component: 'controllers' })
  const namespace = options.namespace ?? HUB_NAMESPACE
  const elector = new LeaderElector({
    client,
    namespace,
    name: LEASE_NAME,
    identity,
    leaseMs: LEASE_MS,
    clock,
    log,
  })
  const planDelayMs = options.planDelayMs ?? LEASE_MS + CREATE_TIMEOUT_MS
  const isLeader = () => elector.isLeader()
  return {
    isLeader,
    run: (signal) =>
      elector.run(signal, async (leading, _epoch, letGo) => {
        const term = { ...options, log, isLeader, planDelayMs: letGo ? 0 : planDelayMs }
        await new Term(term, leading).run()
      }),
  }
}
