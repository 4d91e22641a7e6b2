import {
  type AttemptView,
  type EdgeConfig,
  openAttemptStore,
  openSpool,
  probeVersion,
} from '@upgrade-hub/upgrader'
import { createService, listBackups, openLocalAttempts } from '@upgrade-hub/upgrader/attempt'
import { EXIT } from '../exit-codes.ts'
import type { Command, CommandContext } from './command.ts'

/** What this node runs, what is under way, and what the hub does not know yet. */
export const status: Command = {
  name: 'status',
  summary: 'show what runs on this node and which upgrades are under way',
  options: {},
  help: [],
  run: showStatus,
}

/** keadm's `ctl` for what waits on this node. */
export const ctlStatus: Command = { ...status, name: 'ctl status' }

/** keadm's verb: the yes that `requireConfirmation` waits for. */
export const ctlConfirm: Command = {
  name: 'ctl confirm',
  summary: 'confirm the upgrade that waits for it on this node',
  options: { id: { type: 'string' } },
  help: ['--id TASK.ATTEMPT   needed only when several wait'],
  run: async ({ config: load, values, print }) => {
    const store = openAttemptStore(await load())
    const waiting = (await store.attempts()).filter(
      ({ step, id }) => step === 'E4c' && (values['id'] ?? id) === id,
    )
    const [first] = waiting
    if (!first || waiting.length > 1) {
      const ids = waiting.map(({ id }) => id)
      print(first ? `several wait, name one: ${ids.join(' ')}` : 'nothing waits for a confirmation', {
        waiting: ids,
      })
      return EXIT.unchanged
    }
    await store.confirm(first.id)
    print(`${first.id} is confirmed`, { confirmed: first.id })
    return EXIT.ok
  },
}

async function showStatus({ config: load, clock, print }: CommandContext): Promise<number> {
  const config = await load()
  const components = await Promise.all(config.components.map((one) => componentStatus(config, one, clock)))
  const attempts = [...(await openAttemptStore(config).attempts()), ...(await openLocalAttempts(config))]
  const undelivered = await openSpool(config).size()
  const lines = [
    ...components.map(({ name, version, running, backups }) => {
      return `${name} ${version || '(no version)'} ${running ? 'running' : 'not running'}, backups: ${backups.join(' ') || 'none'}`
    }),
    ...attempts.map(describe),
    `${undelivered} results wait to be delivered`,
  ]
  print(lines.join('\n'), { nodeName: config.nodeName, components, attempts, undelivered })
  return EXIT.ok
}

async function componentStatus(
  config: EdgeConfig,
  component: EdgeConfig['components'][number],
  clock: CommandContext['clock'],
) {
  const running = await createService(component, clock)
    .state()
    .then(
      (state) => state.running,
      () => false,
    )
  const backups = (await listBackups(config, component.name)).map(({ version }) => version)
  return { name: component.name, version: await probeVersion(component), running, backups }
}

function describe({ id, phase, step, result, answer }: AttemptView): string {
  const end = result ? `${result.Outcome} ${result.Code} ${result.Reason}` : ''
  return `${id} ${phase} at ${step} ${end || (answer?.Reason ?? '')}`.trimEnd()
}
