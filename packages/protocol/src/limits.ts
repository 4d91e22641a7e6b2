/** Caps and timers of the wire, shared by both ends. Each has a test at the place that enforces it. */
export const LIMITS = {
  /** One WebSocket message. */
  maxFrameBytes: 256 * 1024,
  /** One HTTP body on :10002; larger ones are answered 413. */
  maxBodyBytes: 1024 * 1024,
  maxCsrBytes: 16 * 1024,
  /** The tail of the updater's log that travels with a failure. */
  maxLogTailBytes: 8 * 1024,
  maxReasonChars: 1024,
  /** From the TCP accept to the hello. */
  handshakeTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  heartbeatMs: 15_000,
  /** This many silent heartbeats end a session, on either side. */
  missedHeartbeats: 3,
  reconnectBaseMs: 500,
  reconnectMaxMs: 60_000,
  /** Messages one edge may send a second, sustained and at once. */
  messagesPerSecond: 30,
  messageBurst: 60,
  /** Frames that wait to be written to one peer before the session is closed as too slow. */
  maxQueuedBytes: 1024 * 1024,
} as const

export const PORTS = { websocket: 10_000, https: 10_002 } as const

/** Close codes of the session; 4000-4999 is the private range of RFC 6455. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  policy: 1008,
  tooBig: 1009,
  unsupportedPeer: 4001,
  superseded: 4002,
  heartbeatLost: 4003,
  tooFast: 4004,
  tooSlow: 4005,
  revoked: 4006,
} as const

/** KubeEdge's default project id, the first part of the WebSocket path. */
export const DEFAULT_PROJECT_ID = 'e632aba927ea4ac2b575ec1603d56f10'
