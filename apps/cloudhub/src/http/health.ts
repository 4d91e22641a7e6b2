import type { FastifyInstance, RawServerBase } from 'fastify'
import { HttpError } from '../errors.ts'

/** `GET /healthz` (the process answers) and `GET /readyz` (it may be sent work). */
export function serveHealth<S extends RawServerBase>(app: FastifyInstance<S>, isReady: () => boolean): void {
  const open = { config: { access: 'open' as const } }
  app.get('/healthz', open, (_, reply) => reply.type('text/plain').send('ok'))
  app.get('/readyz', open, (_, reply) => {
    if (!isReady()) throw new HttpError(503, 'NOT_READY', 'not ready yet')
    return reply.type('text/plain').send('ok')
  })
}
