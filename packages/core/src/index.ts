export { type BackoffPolicy, backoffMs, backoffSleep } from './backoff.ts'
export { type Clock, microTime, rfc3339, systemClock, type Timer } from './clock.ts'
export {
  assertNever,
  ConfigError,
  HubError,
  InvariantError,
  invariant,
  messageOf,
  ParseError,
  type Retry,
} from './errors.ts'
export { attemptId, historyId, parseHistoryId, sha256Hex, taskName } from './ids.ts'
export { formatImage, type ImageReference, imageForVersion, parseImage } from './images.ts'
export { type Logger, silentLogger } from './logger.ts'
export { type Counter, type Gauge, type Histogram, type Labels, type Metrics, noMetrics } from './metrics.ts'
export { canonicalVersion, compareVersions, isVersion, tagForVersion } from './versions.ts'
