import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { type Logger, parseHistoryId } from '@upgrade-hub/core'
import type { EdgeConfig } from './config.ts'
import { CommandError } from './errors.ts'
import { run, SAFE_ENV, systemProgram } from './host/command.ts'
import { updaterSandbox } from './sandbox.ts'
import { attemptPaths } from './store/paths.ts'

const LAUNCH_TIMEOUT_MS = 15_000
/** A log that has grown past this begins anew. */
const MAX_LOG_BYTES = 1024 * 1024

export interface LaunchOptions {
  readonly config: EdgeConfig
  readonly configPath: string
  /** HistoryID of the attempt. */
  readonly id: string
  /** How edgeadm is run: an absolute program and its first arguments. */
  readonly edgeadm: readonly [string, ...string[]]
  readonly log: Logger
  /** Added to the allow-listed environment. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Starts an updater that outlives us: a transient unit of its own with systemd, else a session of its own. A second one
 * for the same attempt ends by itself, so starting one too many is harmless. @throws CommandError
 */
export async function launchUpdater(options: LaunchOptions): Promise<void> {
  const { config, configPath, id, edgeadm, log } = options
  const argv = [...edgeadm, 'attempt', 'run', '--config', configPath, '--id', id]
  log.info({ attempt: id, detach: config.detach }, 'starting an updater')
  if (config.detach === 'systemd') await launchUnit(options, argv)
  else await launchSession(options, argv)
}

interface UpdaterUnit {
  readonly id: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Settings as in a unit file. */
  readonly sandbox: readonly string[]
}

/** The arguments of systemd-run: nothing that stops edgehub or the agent can stop this unit. */
export function unitArgs({ id, argv, env, sandbox }: UpdaterUnit): string[] {
  const { task, attempt } = parseHistoryId(id) ?? { task: id, attempt: 1 }
  const hash = createHash('sha256').update(task).digest('hex').slice(0, 16)
  const variables = Object.entries({ ...SAFE_ENV, ...env }).map(
    ([name, value]) => `--setenv=${name}=${value}`,
  )
  return [
    `--unit=upgrade-hub-${hash}-${attempt}`,
    '--collect',
    '--quiet',
    '--no-block',
    '--property=KillMode=process',
    '--property=UMask=0077',
    '--property=OOMScoreAdjust=-500',
    // On a command line a percent sign means itself.
    ...sandbox.map((setting) => `--property=${setting.replaceAll('%%', '%')}`),
    ...variables,
    '--',
    ...argv,
  ]
}

/** The journal of systemd gets what it says, and the log beside the attempt too, of which a part travels with the result. */
async function launchUnit({ config, id, env }: LaunchOptions, argv: readonly string[]): Promise<void> {
  const program = await systemProgram('systemd-run')
  if (!program) throw new CommandError('systemd-run', 'this host has none')
  const { log } = attemptPaths(config, id)
  await (await openLog(log)).close()
  const args = unitArgs({ id, argv, env: { ...env, UPGRADE_HUB_LOG: log }, sandbox: updaterSandbox(config) })
  await run(program, args, { timeoutMs: LAUNCH_TIMEOUT_MS })
}

async function launchSession({ config, id, env }: LaunchOptions, argv: readonly string[]): Promise<void> {
  const log = await openLog(attemptPaths(config, id).log)
  try {
    const [program = '', ...args] = argv
    const child = spawn(program, args, {
      cwd: '/',
      detached: true,
      env: { ...SAFE_ENV, ...env },
      stdio: ['ignore', log.fd, log.fd],
    })
    await once(child, 'spawn')
    child.unref()
  } finally {
    await log.close()
  }
}

async function openLog(path: string) {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
  const file = await open(path, flags, 0o600)
  if ((await file.stat()).size > MAX_LOG_BYTES) await file.truncate(0)
  return file
}
