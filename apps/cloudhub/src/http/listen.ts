import type { Server } from 'node:net'
import { messageOf } from '@upgrade-hub/core'
import { StartError } from '../errors.ts'

/** As much of a fastify instance as listening needs. */
interface App {
  readonly server: Server
  listen(options: Address): Promise<string>
}

interface Address {
  host: string
  port: number
}

/** Opens the port of an app and gives the one that was taken (for port 0). @throws StartError HUB_PORT_IN_USE */
export async function listen(app: App, at: Address): Promise<number> {
  try {
    await app.listen(at)
  } catch (error) {
    throw inUse(at, error)
  }
  return portOf(app.server, at)
}

/** The same for a bare server. @throws StartError HUB_PORT_IN_USE */
export async function listenBare(server: Server, at: Address): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(inUse(at, error)))
    server.listen({ ...at }, resolve)
  })
  return portOf(server, at)
}

function inUse({ host, port }: Address, error: unknown): StartError {
  return new StartError('HUB_PORT_IN_USE', `cannot listen on ${host}:${port}: ${messageOf(error)}`, error)
}

function portOf(server: Server, { port }: Address): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : port
}
