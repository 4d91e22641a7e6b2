export { createLogger, type LoggerOptions } from './logger.ts'
export { createMetrics, type MetricsPage, type MetricsRegistry } from './metrics.ts'
export { redact, redactText } from './redaction.ts'
