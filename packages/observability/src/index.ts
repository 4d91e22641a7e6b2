export { createLogger } from './logger.ts'
export { createMetrics, type MetricsPage, type MetricsRegistry } from './metrics.ts'
export type { LoggerOptions } from './redacting-logger.ts'
export { redact, redactText } from './redaction.ts'
