import { constants } from 'node:crypto'
import type { ServerOptions } from 'node:https'
import { LIMITS } from '@upgrade-hub/protocol'

/**
 * What the HTTPS server under `acceptSessions` is to be made with: mutual TLS of at least 1.2 with ECDHE, no
 * renegotiation, and a timer and a cap for every phase before the upgrade.
 */
export const SESSION_SERVER_OPTIONS = {
  requestCert: true,
  rejectUnauthorized: true,
  minVersion: 'TLSv1.2',
  ciphers:
    'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  handshakeTimeout: LIMITS.handshakeTimeoutMs,
  headersTimeout: LIMITS.handshakeTimeoutMs,
  requestTimeout: LIMITS.requestTimeoutMs,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
  keepAliveTimeout: 1_000,
} as const satisfies ServerOptions
