import { systemClock } from '@upgrade-hub/core'
import type { Descriptor } from '../manifest.ts'
import { Repository } from '../repository.ts'
import { DEFAULT_LIMITS as limits } from '../settings.ts'
import { sourcesOf } from '../sources.ts'
import { createTransport } from '../transport.ts'

/** The first half of a pull alone: a layer from a registry on loopback into a file, verified. */
export async function downloadLayer(host: string, layer: Descriptor, path: string): Promise<void> {
  const settings = { plainHttp: [host], allow: [] }
  const transport = createTransport(settings, limits)
  const { signal } = new AbortController()
  const session = { settings, limits, clock: systemClock, signal, transport }
  const repository = new Repository(sourcesOf({ registry: host, repository: 'team/edge' }, settings), session)
  try {
    await repository.download(layer, path, () => undefined)
  } finally {
    await transport.destroy()
  }
}
