import { readFile } from 'node:fs/promises'
import { type EdgeConfig, postResult } from '@upgrade-hub/upgrader'
import type { Ports, Pulled, PullRequest } from '@upgrade-hub/upgrader/attempt'
import type { CommandContext } from './commands/command.ts'

/** The real world for an attempt on this node. */
export function portsOf(
  config: EdgeConfig,
  { clock, log, at }: Pick<CommandContext, 'clock' | 'log' | 'at'>,
): Ports {
  return {
    clock,
    log,
    at,
    post: (result) => postResult(config, result),
    pull: (request) => pull(config, request, clock),
  }
}

async function pull(config: EdgeConfig, request: PullRequest, clock: Ports['clock']): Promise<Pulled> {
  // Loaded here: most runs pull nothing, and an updater should be up at once.
  const { DEFAULT_LIMITS, pullImage } = await import('@upgrade-hub/oci')
  const { plainHttp, allow, mirrors, caFile } = config.registry
  const ca = caFile === undefined ? {} : { ca: await readFile(caFile, 'utf8') }
  return pullImage({
    ...request,
    registry: { plainHttp, allow, mirrors, ...ca },
    limits: DEFAULT_LIMITS,
    clock,
  })
}
