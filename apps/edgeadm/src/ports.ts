import { type EdgeConfig, postResult } from '@upgrade-hub/upgrader'
import { createService, type Ports } from '@upgrade-hub/upgrader/attempt'
import type { CommandContext } from './commands/command.ts'
import { registrySettings } from './registry.ts'

/** The real world for an attempt on this node. */
export function portsOf(
  config: EdgeConfig,
  { clock, log, at, proxy }: Pick<CommandContext, 'clock' | 'log' | 'at' | 'proxy'>,
): Ports {
  return {
    clock,
    log,
    at,
    service: (component) => createService(component, clock),
    post: (result) => postResult(config, result),
    // Loaded here: most runs pull nothing, and an updater should be up at once.
    pull: async (request) => {
      const { DEFAULT_LIMITS, pullImage } = await import('@upgrade-hub/oci')
      const registry = await registrySettings(config, proxy)
      return pullImage({ ...request, registry, limits: DEFAULT_LIMITS, clock })
    },
  }
}
