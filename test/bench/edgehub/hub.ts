import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { acceptSessions, SESSION_SERVER_OPTIONS } from '@upgrade-hub/channel'
import { noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import { createCa, createNodeCsr, identityOf } from '@upgrade-hub/pki'

/** Welcomes every edge of its CA and stores nothing. */
export interface BenchHub {
  readonly url: string
  /** Files of an edge called `nodeName`. */
  readonly certificates: { readonly ca: string; readonly cert: string; readonly key: string }
  /** Resolves at the next session. */
  nextSession(): Promise<void>
  stop(): Promise<void>
}

/** Starts one in this process; its files are in `folder`. */
export async function startBenchHub(folder: string, nodeName: string): Promise<BenchHub> {
  const ca = await createCa({ commonName: 'bench', validDays: 1 })
  const own = await ca.issueServer({ dnsNames: [], ipAddresses: ['127.0.0.1'], validDays: 1 })
  const server = createServer({
    ...SESSION_SERVER_OPTIONS,
    ca: ca.certPem,
    cert: own.certPem,
    key: own.keyPem,
  })
  let onSession: () => void = () => undefined
  const gate = acceptSessions({
    server,
    authorize: (_, certificate) =>
      Promise.resolve(identityOf(certificate) ?? { status: 403, code: 'NOT_A_NODE', message: 'not a node' }),
    welcome: () =>
      Promise.resolve({ heartbeatSeconds: 15, nodeUID: 'uid', open: [], limits: { maxFrameBytes: 262_144 } }),
    onSession: () => onSession(),
    clock: systemClock,
    log: silentLogger,
    metrics: noMetrics,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `wss://127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificates: await enrol(ca, folder, nodeName),
    nextSession: () => new Promise((resolve) => (onSession = resolve)),
    stop: async () => {
      const closing = gate.close(0)
      server.closeAllConnections()
      server.close()
      await closing
    },
  }
}

async function enrol(ca: Awaited<ReturnType<typeof createCa>>, folder: string, nodeName: string) {
  const { csrDer, keyPem } = await createNodeCsr({ nodeName })
  const { certPem } = await ca.signNodeCsr(csrDer, { nodeName, validSeconds: 86_400 })
  const paths = { ca: join(folder, 'ca'), cert: join(folder, 'cert'), key: join(folder, 'key') }
  writeFileSync(paths.ca, ca.certPem)
  writeFileSync(paths.cert, certPem)
  writeFileSync(paths.key, keyPem)
  return paths
}
