import { openAttemptStore } from '@upgrade-hub/upgrader'
import { openLocalAttempts, runAttempt } from '@upgrade-hub/upgrader/attempt'
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

/** What the boot unit calls before the agent's own unit starts. */
export const attemptResume: Command = {
  name: 'attempt resume',
  summary: 'carry on every attempt that a crash or a reboot has interrupted',
  options: {},
  help: [],
  run: async (context) => {
    const config = await context.config()
    const views = [...(await openAttemptStore(config).attempts()), ...(await openLocalAttempts(config))]
    const open = views.filter((view) => view.needsUpdater)
    for (const { id } of open) await runAttempt({ config, id, ports: portsOf(config, context) })
    context.print(`${open.length} attempts carried on`, { attempts: open.map(({ id }) => id) })
    return EXIT.ok
  },
}
