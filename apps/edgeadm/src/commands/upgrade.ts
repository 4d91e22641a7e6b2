import { type EdgeConfig, openAttemptStore } from '@upgrade-hub/upgrader'
import { findBackup, type LocalRequest, runLocalAttempt } from '@upgrade-hub/upgrader/attempt'
import { EXIT, exitCodeOf } from '../exit-codes.ts'
import { portsOf } from '../ports.ts'
import type { Command, CommandContext } from './command.ts'
import { SCRIPT_HELP, SCRIPT_OPTIONS, withScripts } from './scripts.ts'

const MAX_READY_SECONDS = 3600
const DEFAULT_READY_SECONDS = 10
/** keadm's default. */
const DEFAULT_IMAGE = 'kubeedge/installation-package'

const shared = {
  component: { type: 'string' },
  force: { type: 'boolean' },
  'min-ready-seconds': { type: 'string' },
  ...SCRIPT_OPTIONS,
} as const
const sharedHelp = [
  '--component NAME        what to upgrade, default edgecore',
  '--force                 do not ask',
  '--min-ready-seconds N   how long the agent must run without a restart, default 10',
  ...SCRIPT_HELP,
]

/** keadm's verb, by hand and without a hub. */
export const upgradeEdge: Command = {
  name: 'upgrade edge',
  summary: 'upgrade the agent of this node, with backup, health check and rollback',
  options: {
    toVersion: { type: 'string' },
    image: { type: 'string' },
    'image-digest': { type: 'string' },
    ...shared,
  },
  help: [
    '--toVersion VERSION     the version to install, as v1.21.0',
    '--image REPOSITORY      the installation image, default kubeedge/installation-package',
    '--image-digest DIGEST   the digest it must have',
    ...sharedHelp,
  ],
  run: async (context) => {
    const version = text(context, 'toVersion')
    if (version === undefined) return usage(context, '--toVersion is missing')
    const digest = text(context, 'image-digest')
    return runByHand(context, await context.config(), {
      purpose: 'Upgrade',
      version,
      image: text(context, 'image') ?? DEFAULT_IMAGE,
      ...(digest === undefined ? {} : { digest }),
    })
  },
}

/** keadm's verb: back to a version that was backed up here. */
export const rollbackEdge: Command = {
  name: 'rollback edge',
  summary: 'put a backed-up version of the agent back, with health check',
  options: { 'historical-version': { type: 'string' }, ...shared },
  help: ['--historical-version V  the version, default that of the newest whole backup', ...sharedHelp],
  run: async (context) => {
    const config = await context.config()
    const wanted = text(context, 'historical-version')
    const backup = await findBackup(config, text(context, 'component') ?? 'edgecore', wanted)
    if (!backup) {
      context.print(`there is no whole backup of ${wanted ?? 'any version'}`, { error: 'NoBackup' })
      return EXIT.unchanged
    }
    return runByHand(context, config, { purpose: 'RollBack', version: backup.version, image: '' })
  },
}

type Wanted = Pick<LocalRequest, 'purpose' | 'version' | 'image'> & { digest?: string }

async function runByHand(context: CommandContext, config: EdgeConfig, wanted: Wanted): Promise<number> {
  const seconds = Number(text(context, 'min-ready-seconds') ?? DEFAULT_READY_SECONDS)
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > MAX_READY_SECONDS) {
    return usage(context, `--min-ready-seconds is not between 0 and ${MAX_READY_SECONDS}`)
  }
  return withScripts(context, () => attemptByHand(context, config, wanted, seconds))
}

async function attemptByHand(
  context: CommandContext,
  config: EdgeConfig,
  wanted: Wanted,
  seconds: number,
): Promise<number> {
  const question = `${wanted.purpose === 'Upgrade' ? 'Upgrade' : 'Roll back'} to ${wanted.version}? [y/N] `
  const view = await runLocalAttempt({
    config,
    request: { ...wanted, component: text(context, 'component') ?? 'edgecore', minReadySeconds: seconds },
    ports: portsOf(config, context),
    confirm: () => (context.values['force'] === true ? Promise.resolve(true) : context.ask(question)),
  })
  const { result } = view
  context.print(
    result
      ? `${result.Outcome}: ${result.FromVersion} -> ${result.RunningVersion} ${result.Reason}`
      : view.step,
    { attempt: view.id, result },
  )
  await openAttemptStore(config).prune()
  return exitCodeOf(result?.Outcome)
}

function text({ values }: CommandContext, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function usage(context: CommandContext, problem: string): number {
  context.print(problem, { error: problem })
  return EXIT.usage
}
