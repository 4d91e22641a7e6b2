import { type Clock, type Gauge, type Logger, type Metrics } from '@upgrade-hub/core'
import { CRDS, type CustomResourceDefinition, Informer, type KubeClient } from '@upgrade-hub/kube'
import { isOurSchema } from '@upgrade-hub/rollout'

const JOB_CRD = 'nodeupgradejobs.operations.kubeedge.io'

/** Watches over the CRD of the job: while it is not ours, a write would prune our fields for good. */
export class SchemaGuard {
  readonly #crds: Informer<CustomResourceDefinition>
  readonly #log: Logger
  readonly #gauge: Gauge
  readonly #listeners = new Set<() => void>()
  #isOurs = false

  constructor(options: { client: KubeClient; clock: Clock; log: Logger; metrics: Metrics }) {
    const { client, clock, log, metrics } = options
    this.#log = log
    this.#gauge = metrics.gauge('upgradehub_schema_ours', '1 while the CRD of NodeUpgradeJob is ours.')
    const fieldSelector = `metadata.name=${JOB_CRD}`
    this.#crds = new Informer({ client, resource: CRDS, fieldSelector, clock, log, metrics })
    this.#crds.onChange(() => this.#look())
  }

  /** True while jobs may be written. */
  get isOurs(): boolean {
    return this.#isOurs
  }

  /** Calls when the schema has become ours, or no longer is. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#crds.run(signal)
  }

  async synced(signal: AbortSignal): Promise<void> {
    await this.#crds.synced(signal)
    this.#look()
  }

  #look(): void {
    const isOurs = isOurSchema(this.#crds.get(JOB_CRD))
    this.#gauge.set(isOurs ? 1 : 0)
    if (!isOurs)
      this.#log.warn(
        { crd: JOB_CRD },
        'the schema of NodeUpgradeJob is not ours: no job is written; run install-crds',
      )
    if (isOurs === this.#isOurs) return
    this.#isOurs = isOurs
    for (const listener of this.#listeners) listener()
  }
}
