import {
  type AttemptView,
  type EdgeConfig,
  openAttemptStore,
  openSpool,
  probeVersion,
} from '@upgrade-hub/upgrader'
import { createService, listBackups, openLocalAttempts } from '@upgrade-hub/upgrader/attempt'
import { askEdgehub, controlSocket, readHold } from '@upgrade-hub/upgrader/control'
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

async function showStatus({ config: load, clock, print }: CommandContext): Promise<number> {
  const config = await load()
  const components = await Promise.all(config.components.map((one) => componentStatus(config, one, clock)))
  const attempts = [...(await openAttemptStore(config).attempts()), ...(await openLocalAttempts(config))]
  const edgehub = await edgehubStatus(config)
  const undelivered = await openSpool(config).size()
  const lines = [
    ...components.map(({ name, version, running, backups }) => {
      return `${name} ${version || '(no version)'} ${running ? 'running' : 'not running'}, backups: ${[...new Set(backups)].join(' ') || 'none'}`
    }),
    ...attempts.map(describe),
    ...(edgehub.hold ? [`held since ${edgehub.hold.since} ${edgehub.hold.reason}`.trimEnd()] : []),
    `edgehub ${edgehub.running ? `runs, session ${edgehub.session?.state ?? 'unknown'}` : 'does not run'}`,
    `${undelivered} results wait to be delivered`,
  ]
  print(lines.join('\n'), { nodeName: config.nodeName, components, attempts, edgehub, undelivered })
  return EXIT.ok
}

/** What only a running edgehub knows is its session. */
async function edgehubStatus(config: EdgeConfig) {
  const answer = await askEdgehub(controlSocket(config), { verb: 'status' })
  const session = answer?.data['session'] as { readonly state: string } | undefined
  const hold = await readHold(config)
  return { running: answer !== undefined, ...(session ? { session } : {}), ...(hold ? { hold } : {}) }
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
  const waits = step === 'E4c' ? 'waits for `edgeadm ctl confirm`' : (answer?.Reason ?? '')
  return phase === 'ended' ? `${id} ended ${end}`.trimEnd() : `${id} ${phase} at ${step} ${waits}`.trimEnd()
}
