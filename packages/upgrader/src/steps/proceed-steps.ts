import { CancelledError, LockHeldError, NotNowError, StepError } from '../errors.ts'
import { bootId, monotonicMs } from '../host/boot.ts'
import { fileFacts } from '../host/files.ts'
import type { Lock } from '../host/lock.ts'
import { keepReserve } from '../machine/journal.ts'
import type { Facts } from '../machine/state.ts'
import { probeVersion } from '../probe.ts'
import { heldBecause } from '../store/hold.ts'
import { attemptUnderWay } from '../store/load.ts'
import { backUp } from './backup.ts'
import { removeOldestBackup } from './backup-catalog.ts'
import type { StepContext } from './context.ts'
import { checkSpace } from './precheck.ts'
import { stagedIsWhole } from './prepare-steps.ts'
import { placeBeside, swapIn } from './swap.ts'
import { resolveTarget } from './targets.ts'

/**
 * E5: the lock, everything checked once more, the backup, the new files beside the old, and at the very end the permission
 * to stop the agent. All that needs space is written here.
 */
export async function backUpAndAsk(context: StepContext): Promise<Facts> {
  await checkPermit(context)
  const lock = await takeLockNow(context)
  await recheck(context)
  const { config, component, prepare, state, clock, paths } = context
  const name = `${prepare.TaskUID}.${prepare.Attempt}`
  const { files } = await backUp({ config, component, name, version: state.facts.fromVersion ?? '', clock })
  await context.at('E5.backedUp')
  await keepReserve(paths.journal)
  for (const file of state.facts.staged ?? []) await placeBeside(file)
  if (!(await lock.isOurs())) throw new NotNowError('Busy', 'the lock was taken by another')
  await passGate(context)
  return { backup: files }
}

/** E6: from here on nobody starts the agent but us, and it does not run. */
export async function stopAgent({ service }: StepContext): Promise<undefined> {
  await service.hold()
  await service.stop()
}

/** E7: the programs, companions first, so that the agent itself is new only when all is. */
export async function swapFiles(context: StepContext): Promise<undefined> {
  const { service, state, component } = context
  // After a reboot the agent may have been started on the old files.
  await stopAgent(context)
  const staged = state.facts.staged ?? []
  const binary = await resolveTarget(component.binary)
  const agentLast = staged.toSorted((a, b) => Number(a.target === binary) - Number(b.target === binary))
  for (const file of agentLast) {
    await context.at('E7.file')
    await swapIn(file)
  }
  if ((await service.state()).running)
    throw new StepError('SwapFailed', 'the agent was started during the swap')
}

/** E8 */
export async function startNew({ service }: StepContext): Promise<undefined> {
  await service.start()
}

/** E10: what runs is what was verified and proven; the supervisor may have the agent back. */
export async function commit(context: StepContext): Promise<undefined> {
  const { state, service } = context
  for (const { target, sha256, kind = 'program' } of state.facts.staged ?? []) {
    if (kind === 'program' && (await fileFacts(target))?.sha256 !== sha256)
      throw new StepError('SwapFailed', `${target} changed after the swap`)
  }
  const { running, identity } = await service.state()
  if (!running || identity !== state.facts.identity)
    throw new StepError('HealthFailed', 'the agent ended after it was proven')
  await releaseAnyhow(context)
}

/** A hold that cannot be lifted now is lifted at the end and is gone with the next boot: no reason to go back. */
export async function releaseAnyhow({ service, log }: Pick<StepContext, 'service' | 'log'>): Promise<void> {
  await service.release().catch((error: unknown) => log.warn({ err: error }, 'the hold could not be lifted'))
}

async function takeLockNow({ locks, config, prepare }: StepContext): Promise<Lock> {
  const lock = await locks.take().catch((error: unknown) => {
    throw error instanceof LockHeldError ? new NotNowError('Busy', error.message) : error
  })
  const other = await attemptUnderWay(config, prepare.HistoryID)
  if (other) throw new NotNowError('Busy', `attempt ${other} is under way`)
  return lock
}

async function recheck(context: StepContext): Promise<void> {
  const { state, component, service, signal } = context
  const stale = (why: string) => new NotNowError('PreparedStale', why)
  const staged = state.facts.staged ?? []
  if (!(await stagedIsWhole(staged))) throw stale('the staged files are gone or changed')
  const binary = await resolveTarget(component.binary)
  if (!staged.some(({ target }) => target === binary)) throw stale(`${component.binary} leads elsewhere now`)
  const version = await probeVersion(component, signal)
  if (version !== state.facts.fromVersion) throw stale(`the agent is ${version || 'unknown'} now`)
  const problem = await service.problem()
  if (problem) throw stale(problem)
  await makeSpace(context, stale)
}

/** Old backups are worth less than the upgrade, the newest is worth more. */
async function makeSpace(context: StepContext, stale: (why: string) => Error): Promise<void> {
  for (;;) {
    try {
      return await checkSpace(context)
    } catch (error) {
      if (!(error instanceof StepError)) throw error
      if (!(await removeOldestBackup(context.config, context.component.name))) throw stale(error.message)
    }
  }
}

/** A cancel and the stop race for one file; then the permission is looked at, last of all. */
async function passGate(context: StepContext): Promise<void> {
  if ((await context.inbox.passGate('stop', context.state.lastSeq)) === 'cancel') throw new CancelledError()
  await checkPermit(context)
}

async function checkPermit({ inbox, config, local }: StepContext): Promise<void> {
  const held = local ? undefined : await heldBecause(config)
  if (held) throw new NotNowError('Busy', held)
  const permit = await inbox.permit()
  if (permit?.boot !== (await bootId()))
    throw new NotNowError('PermissionExpired', 'it was given before the restart')
  const late = monotonicMs() - permit.validUntilMs
  if (late >= 0) throw new NotNowError('PermissionExpired', `it ended ${Math.ceil(late / 1000)} s ago`)
}
