import type { EdgeConfig } from '@upgrade-hub/upgrader'
import {
  askEdgehub,
  type ControlAnswer,
  type ControlRequest,
  controlSocket,
  performControl,
} from '@upgrade-hub/upgrader/control'
import { EXIT } from '../exit-codes.ts'
import type { Command, CommandContext } from './command.ts'

/** keadm's verb: the yes that `requireConfirmation` waits for. */
export const ctlConfirm: Command = {
  name: 'ctl confirm',
  summary: 'confirm the upgrade that waits for it on this node',
  options: { id: { type: 'string' } },
  help: ['--id TASK.ATTEMPT   needed only when several wait'],
  run: (context) => control(context, { verb: 'confirm', ...option(context, 'id') }),
}

/** For whoever works at the machine and does not want the agent to be stopped meanwhile. */
export const ctlHold: Command = {
  name: 'ctl hold',
  summary: 'let no upgrade of the hub stop the agent of this node, until `ctl release`',
  options: { reason: { type: 'string' } },
  help: ['--reason TEXT   shown to who waits for the node'],
  run: (context) => control(context, { verb: 'hold', ...option(context, 'reason') }),
}

export const ctlRelease: Command = {
  name: 'ctl release',
  summary: 'let upgrades of the hub proceed again',
  options: {},
  help: [],
  run: (context) => control(context, { verb: 'release' }),
}

/** By edgehub while one runs, so that its log has it; else on the same files. */
async function askOrPerform(
  config: EdgeConfig,
  request: ControlRequest,
  clock: CommandContext['clock'],
): Promise<ControlAnswer> {
  return (await askEdgehub(controlSocket(config), request)) ?? performControl(config, request, clock)
}

async function control(context: CommandContext, request: ControlRequest): Promise<number> {
  const { done, message, data } = await askOrPerform(await context.config(), request, context.clock)
  context.print(message, { done, ...data })
  return done ? EXIT.ok : EXIT.unchanged
}

function option({ values }: CommandContext, name: 'id' | 'reason'): { id?: string; reason?: string } {
  const value = values[name]
  return typeof value === 'string' ? { [name]: value } : {}
}
