import { CommandError, runProgram, systemProgram } from '@upgrade-hub/upgrader'
import type { Environment } from './config.ts'

const TIMEOUT_MS = 10_000

/** Tells systemd that this unit is ready, the first time it is called; does nothing where nobody waits for it. */
export function readiness({ notifySocket }: Environment): () => Promise<void> {
  let told: Promise<void> | undefined
  return () => {
    told ??= notifySocket === undefined ? Promise.resolve() : notify(notifySocket)
    return told
  }
}

/** Node has no datagram sockets of the unix family. @see systemd-notify(1) */
async function notify(socket: string): Promise<void> {
  const program = await systemProgram('systemd-notify')
  if (!program) throw new CommandError('systemd-notify', 'this host has none')
  await runProgram(program, ['--ready'], { timeoutMs: TIMEOUT_MS, env: { NOTIFY_SOCKET: socket } })
}
