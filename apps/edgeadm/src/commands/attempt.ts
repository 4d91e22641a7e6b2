import { type AttemptView, LockHeldError, openAttemptStore } from '@upgrade-hub/upgrader'
import { openLocalAttempts, type RunOptions, runAttempt, tidyAfterBoot } from '@upgrade-hub/upgrader/attempt'
import { EXIT, exitCodeOf } from '../exit-codes.ts'
import { portsOf } from '../ports.ts'
import type { Command } from './command.ts'

/** The updater itself: edgehub starts it detached. */
export const attemptRun: Command = {
  name: 'attempt run',
  summary: 'carry one attempt on from where it is, until it is prepared or has ended',
  options: { id: { type: 'string' } },
  help: ['--id TASK.ATTEMPT   the attempt, as `edgeadm status` lists it'],
  run: async (context) => {
    const config = await context.config()
    const { step, ending } = await runAttempt({
      config,
      id: String(context.values['id'] ?? ''),
      ports: portsOf(config, context),
    })
    context.print(`${step}${ending ? ` ${ending.outcome} ${ending.reason}` : ''}`, { step, ending })
    return exitCodeOf(ending?.outcome)
  },
}

/**
 * What the boot unit calls. The agent's unit waits for `ready`, which comes when its files are whole and what they are is
 * in the journal, and at once when nothing was interrupted between stop and start: no download keeps an agent down.
 */
export const attemptResume: Command = {
  name: 'attempt resume',
  summary: 'carry on every attempt that a crash or a reboot has interrupted',
  options: {},
  help: [],
  run: async (context) => {
    const config = await context.config()
    await tidyAfterBoot(config)
    const views = [...(await openAttemptStore(config).attempts()), ...(await openLocalAttempts(config))]
    const open = views.filter((view) => view.needsUpdater)
    const ports = { ...portsOf(config, context), agentMayRun: context.ready }
    const carryOn = async (views: readonly AttemptView[]) => {
      for (const { id } of views) await runUnlessTaken({ config, id, ports })
    }
    await carryOn(open.filter(({ pastStop }) => pastStop))
    await context.ready()
    await carryOn(open.filter(({ pastStop }) => !pastStop))
    context.print(`${open.length} attempts carried on`, { attempts: open.map(({ id }) => id) })
    return EXIT.ok
  },
}

/** edgehub is up as well and may have been faster. */
async function runUnlessTaken(options: RunOptions): Promise<void> {
  try {
    await runAttempt(options)
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error
    options.ports.log.info({ attempt: options.id }, 'another updater is at work')
  }
}
