import { componentOf, probeVersion } from '@upgrade-hub/upgrader'
import { acquireLock, backUp, nodeLock } from '@upgrade-hub/upgrader/attempt'
import { EXIT } from '../exit-codes.ts'
import type { Command, CommandContext } from './command.ts'
import { SCRIPT_HELP, SCRIPT_OPTIONS, withScripts } from './scripts.ts'

/** keadm's verb. */
export const backupEdge: Command = {
  name: 'backup edge',
  summary: 'copy the agent, its configuration and its database to where `rollback edge` finds them',
  options: { component: { type: 'string' }, ...SCRIPT_OPTIONS },
  help: ['--component NAME        what to back up, default edgecore', ...SCRIPT_HELP],
  run: (context) => withScripts(context, () => backUpNow(context)),
}

async function backUpNow({ config: load, values, clock, log, print }: CommandContext): Promise<number> {
  const config = await load()
  const name = String(values['component'] ?? 'edgecore')
  const component = componentOf(config, name)
  if (!component) {
    print(`this node has no component ${name}`, { error: 'UnknownComponent' })
    return EXIT.usage
  }
  const stamp = new Date(clock.now()).toISOString().replaceAll(/[^0-9]/g, '')
  const lock = await acquireLock(nodeLock(config), `backup-${stamp}`, { clock, log })
  try {
    const version = await probeVersion(component)
    const { folder, files } = await backUp({ config, component, name: `manual-${stamp}`, version, clock })
    print(`${version} is backed up in ${folder}`, { version, folder, files })
    return EXIT.ok
  } finally {
    await lock.release()
  }
}
