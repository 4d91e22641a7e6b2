import { LIMITS } from '@upgrade-hub/protocol'

/** Timers and caps of every HTTPS server of the hub, in ms, bytes and counts. */
export const HTTP_LIMITS = {
  handshakeTimeoutMs: LIMITS.handshakeTimeoutMs,
  headersTimeoutMs: LIMITS.handshakeTimeoutMs,
  /** From the first byte of a request to its last. */
  requestTimeoutMs: LIMITS.requestTimeoutMs,
  /** A connection on which nothing moves. */
  idleTimeoutMs: 30_000,
  keepAliveTimeoutMs: 15_000,
  checkTimersEveryMs: 1_000,
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 64,
  maxBodyBytes: LIMITS.maxBodyBytes,
  maxConnections: 4_096,
  maxRequestsPerConnection: 10_000,
}
export type HttpLimits = { readonly [limit in keyof typeof HTTP_LIMITS]: number }
