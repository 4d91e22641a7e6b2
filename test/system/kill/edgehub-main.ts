import { fileURLToPath } from 'node:url'
import { systemClock } from '@upgrade-hub/core'
import { runEdgeHub } from '@upgrade-hub/edgehub'
import { createLogger } from '@upgrade-hub/observability'
import { loadEdgeConfig } from '@upgrade-hub/upgrader'

/** edgehub as it is, with updaters that can be made to stop at a named point. */
const [configPath = ''] = process.argv.slice(2)
await runEdgeHub({
  config: await loadEdgeConfig(configPath),
  configPath,
  edgeadm: [process.execPath, fileURLToPath(new URL('updater-main.ts', import.meta.url))],
  clock: systemClock,
  log: createLogger({ level: 'info', name: 'edgehub' }),
  signal: new AbortController().signal,
})
