import { once } from 'node:events'
import { join } from 'node:path'
import { HUB_NAMESPACE } from '@upgrade-hub/api'
import { ConfigError, HubError, type Logger, systemClock } from '@upgrade-hub/core'
import { connect } from '@upgrade-hub/kube'
import { createLogger } from '@upgrade-hub/observability'
import { helpText, readCommand } from './commands/command-line.ts'
import { readTokenFlags, tokenCommand } from './commands/token.ts'
import { environment, type HubConfig, loadConfig, printConfig, readFlags } from './config.ts'
import type { KubeApi } from './kube-api.ts'
import { stopSignal } from './lifecycle.ts'
import { startHub } from './run.ts'
import { installCrds } from './setup/install-crds.ts'
import { ensureNamespace } from './setup/namespaces.ts'

/** sysexits.h: the words or the files of the caller are wrong. */
const EX_CONFIG = 78
/** What still holds the process after an orderly stop gets this long. */
const LEAVE_MS = 2_000

async function main(argv: readonly string[]): Promise<void> {
  const { name, args } = readCommand(argv)
  if (name === 'help') return console.log(helpText())
  const token = name === 'token create' ? readTokenFlags(args) : undefined
  const flags = readFlags(token?.rest ?? args)
  const config = await loadConfig(flags, environment)
  if (flags.printConfig) return console.log(printConfig(config))
  if (token)
    return withClient(config, async (client, log) =>
      console.log(await tokenCommand(client, token.request, log)),
    )
  if (name === 'install-crds') return withClient(config, install)
  await run(config)
}

async function run(config: HubConfig): Promise<void> {
  const signal = stopSignal(process)
  const hub = await startHub(config, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  if (!hub) return
  if (!signal.aborted) await once(signal, 'abort')
  const inTime = hub.stop().then(() => systemClock.after(LEAVE_MS, leave))
  systemClock.after(config.stopSeconds * 1000, leave)
  await inTime
}

/** Nobody listens to the signal any more: the system ends the process, whatever still runs in it. */
function leave(): void {
  process.kill(process.pid, 'SIGTERM')
}

async function install(client: KubeApi, log: Logger): Promise<void> {
  await ensureNamespace(client, HUB_NAMESPACE)
  await installCrds(client, { clock: systemClock, log })
}

/** Runs a command that asks the API server something; standard output is the command's, the log goes to standard error. */
async function withClient(
  { kubernetes, embedded, logLevel }: HubConfig,
  command: (client: KubeApi, log: Logger) => Promise<void>,
): Promise<void> {
  const log = createLogger({ level: logLevel, name: 'cloudhub', destination: process.stderr })
  const access = embedded.enabled ? { kubeconfig: join(embedded.dataDir, 'kubeconfig') } : kubernetes
  const client = await connect({ ...access, clock: systemClock, log, userAgent: 'upgrade-hub/cloudhub' })
  try {
    await command(client, log)
  } finally {
    await client.close()
  }
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof HubError ? `${error.code}: ${error.message}` : (error as Error).stack)
  process.exitCode = error instanceof ConfigError ? EX_CONFIG : 1
}
