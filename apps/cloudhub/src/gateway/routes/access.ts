import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import { identityOf, type NodeIdentity } from '@upgrade-hub/pki'
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../errors.ts'
import type { HttpsApp } from '../../http/server.ts'

/** What a route asks of its caller. A route that says nothing lets nobody in. */
export type Access = 'open' | 'token-or-node' | 'node'

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
}

const callers = new WeakMap<IncomingMessage, NodeIdentity>()

/**
 * Lets a request through only as far as its route's `access` says, before its body is read. The identity comes from the
 * client certificate that TLS has verified, never from a header. `admit` refuses revoked ones. Who is not known is answered
 * 401 and not 403: an edge whose certificate has run out must keep its results until it has a new one.
 */
export function guardRoutes(app: HttpsApp, admit: (identity: NodeIdentity) => Promise<void>): void {
  app.addHook('onRequest', async (request) => {
    if (request.is404) return
    const { access } = request.routeOptions.config
    if (access === 'open') return
    const identity = certificateIdentity(request.raw)
    if (identity) {
      await admit(identity)
      callers.set(request.raw, identity)
    } else if (access !== 'token-or-node') {
      throw new HttpError(401, 'NO_CERTIFICATE', 'a node certificate of this hub is needed')
    }
    if (access === undefined) throw new HttpError(403, 'FORBIDDEN', 'nobody may call this')
  })
}

/** The node that this request comes from; undefined when it has no certificate. */
export function callerOf(request: FastifyRequest): NodeIdentity | undefined {
  return callers.get(request.raw)
}

function certificateIdentity({ socket }: IncomingMessage): NodeIdentity | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const certificate = socket.getPeerX509Certificate()
  return certificate ? identityOf(certificate) : undefined
}
