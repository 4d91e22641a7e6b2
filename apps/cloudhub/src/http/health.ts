import type { FastifyInstance, RawServerBase } from 'fastify'
import { HttpError } from '../errors.ts'

export interface Health {
  readonly isReady: () => boolean
  /** Names of parts that ended by themselves; only a restart brings them back. */
  readonly broken?: () => readonly string[]
}

/** `GET /healthz` (every part runs) and `GET /readyz` (it may be sent work). */
export function serveHealth<S extends RawServerBase>(app: FastifyInstance<S>, health: Health): void {
  const { isReady, broken = () => [] } = health
  const open = { config: { access: 'open' as const } }
  app.get('/healthz', open, (_, reply) => {
    const parts = broken().join(', ')
    if (parts)
      throw new HttpError(503, 'BROKEN', `ended by itself: ${parts}; the log says why; restart the hub`)
    return reply.type('text/plain').send('ok')
  })
  app.get('/readyz', open, (_, reply) => {
    if (!isReady()) throw new HttpError(503, 'NOT_READY', 'not ready yet')
    return reply.type('text/plain').send('ok')
  })
}
