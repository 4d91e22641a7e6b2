import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePki, startHub } from '@upgrade-hub/channel/testing'
import { systemClock } from '@upgrade-hub/core'

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
  const pki = await makePki()
  let onSession: () => void = () => undefined
  const hub = await startHub(pki, { clock: systemClock, onSession: () => onSession() })
  const certificates = { ca: join(folder, 'ca'), cert: join(folder, 'cert'), key: join(folder, 'key') }
  const pem = await pki.edge(nodeName)
  for (const name of ['ca', 'cert', 'key'] as const) writeFileSync(certificates[name], pem[name])
  return {
    url: hub.url,
    certificates,
    nextSession: () => new Promise((resolve) => (onSession = resolve)),
    stop: () => hub.stop(),
  }
}
