import { type Counter, type Gauge, type Histogram, InvariantError, type Metrics } from '@upgrade-hub/core'
import * as prometheus from 'prom-client'

/** One answer of the metrics endpoint. */
export interface MetricsPage {
  readonly contentType: string
  readonly body: string
}

export interface MetricsRegistry {
  readonly metrics: Metrics
  /** Everything measured so far in the Prometheus text format, the process's own series included. */
  readonly render: () => Promise<MetricsPage>
}

/** Labels come from closed sets; above this many series of one name the newcomers are counted together as `other`. */
const MAX_SERIES = 200
const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300]

/** A registry of its own: two in one process share nothing. Asking twice for a name gives the same series. */
export function createMetrics(): MetricsRegistry {
  const registry = new prometheus.Registry()
  prometheus.collectDefaultMetrics({ register: registry })
  return {
    metrics: new PrometheusMetrics(registry),
    render: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}

class PrometheusMetrics implements Metrics {
  readonly #registry: prometheus.Registry
  readonly #bounds = new Map<string, SeriesBound>()

  constructor(registry: prometheus.Registry) {
    this.#registry = registry
  }

  counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    const counter = this.#once(name, prometheus.Counter, () => {
      return new prometheus.Counter({ name, help, labelNames, registers: [this.#registry] })
    })
    const bound = this.#bound(name)
    return { inc: (labels = {}, by = 1) => counter.inc(bound.labels(labels), by) }
  }

  gauge(name: string, help: string, labelNames: readonly string[] = []): Gauge {
    const gauge = this.#once(name, prometheus.Gauge, () => {
      return new prometheus.Gauge({ name, help, labelNames, registers: [this.#registry] })
    })
    const bound = this.#bound(name)
    return { set: (value, labels = {}) => gauge.set(bound.labels(labels), value) }
  }

  histogram(name: string, help: string, labelNames: readonly string[] = [], buckets = SECONDS): Histogram {
    const histogram = this.#once(name, prometheus.Histogram, () => {
      const options = { name, help, labelNames, buckets: [...buckets], registers: [this.#registry] }
      return new prometheus.Histogram(options)
    })
    const bound = this.#bound(name)
    return { observe: (value, labels = {}) => histogram.observe(bound.labels(labels), value) }
  }

  #once<T>(name: string, kind: abstract new (...args: never[]) => T, make: () => T): T {
    const known: unknown = this.#registry.getSingleMetric(name)
    if (known === undefined) return make()
    if (known instanceof kind) return known
    throw new InvariantError(`metric ${name} is already there as another kind`)
  }

  #bound(name: string): SeriesBound {
    const bound = this.#bounds.get(name) ?? new SeriesBound()
    this.#bounds.set(name, bound)
    return bound
  }
}

/** Keeps one metric from growing for ever, whatever label values it is given. */
class SeriesBound {
  readonly #seen = new Set<string>()

  labels(labels: Readonly<Record<string, string>>): Record<string, string> {
    const key = Object.keys(labels)
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((name) => `${name}=${labels[name]}`)
      .join()
    if (this.#seen.has(key)) return labels
    if (this.#seen.size < MAX_SERIES) {
      this.#seen.add(key)
      return labels
    }
    return Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']))
  }
}
