/** Labels come from closed sets only (code, reason, verb), never a node or job name: series must stay bounded. */
export type Labels = Readonly<Record<string, string>>

export interface Counter {
  inc(labels?: Labels, by?: number): void
}
export interface Gauge {
  set(value: number, labels?: Labels): void
}
export interface Histogram {
  observe(value: number, labels?: Labels): void
}

/** What a package measures with; `observability` gives the prom-client one. Base units (seconds, bytes). */
export interface Metrics {
  counter(name: string, help: string, labelNames?: readonly string[]): Counter
  gauge(name: string, help: string, labelNames?: readonly string[]): Gauge
  histogram(
    name: string,
    help: string,
    labelNames?: readonly string[],
    buckets?: readonly number[],
  ): Histogram
}

const nothing = { inc: () => undefined, set: () => undefined, observe: () => undefined }

export const noMetrics: Metrics = { counter: () => nothing, gauge: () => nothing, histogram: () => nothing }
