import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf, systemClock } from '@upgrade-hub/core'
import { createLightLogger, redact } from '@upgrade-hub/observability/light'
import { EDGE_VERSION, loadEdgeConfig } from '@upgrade-hub/upgrader'
import { dump } from 'js-yaml'
import { runEdgeHub } from './run.ts'

const DEFAULT_CONFIG = '/etc/kubeedge/config/edgehub.yaml'
const USAGE = `edgehub: keeps this node's session with its upgrade hub

  --config FILE     configuration (default ${DEFAULT_CONFIG})
  --print-config    print the configuration as it is understood, and end
  --version         print the version, and end
  --help            print this, and end
`

/** edgeadm of the same release: beside the bundle, or in its workspace of a checkout. */
function siblingEdgeadm(): readonly [string, string] {
  const own = realpathSync(process.argv[1] ?? '')
  const folder = dirname(own)
  const edgeadm = own.endsWith('.ts')
    ? join(folder, '../../edgeadm/src/main.ts')
    : join(folder, 'edgeadm.cjs')
  return [process.execPath, edgeadm]
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      config: { type: 'string', default: DEFAULT_CONFIG },
      'print-config': { type: 'boolean', default: false },
      version: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return print(USAGE)
  if (values.version) return print(`${EDGE_VERSION}\n`)
  const config = await loadEdgeConfig(values.config)
  if (values['print-config']) return print(dump(redact(config)))
  const log = createLightLogger({ level: config.logLevel, name: 'edgehub' })
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort())
  log.info({ node: config.nodeName, version: EDGE_VERSION }, 'started')
  await runEdgeHub({
    config,
    configPath: realpathSync(values.config),
    edgeadm: siblingEdgeadm(),
    clock: systemClock,
    log,
    signal: stop.signal,
  })
  log.info({}, 'stopped')
  return 0
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    console.error(
      error instanceof Error && 'problems' in error ? error.message : `edgehub: ${messageOf(error)}`,
    )
    process.exitCode = 1
  },
)
