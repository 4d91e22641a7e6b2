import { once } from 'node:events'
import { get } from 'node:http'
import { connect } from 'node:net'
import { messageOf } from '@upgrade-hub/core'
import type { HealthProbe } from '@upgrade-hub/protocol'
import type { EdgeConfig } from '../config.ts'
import { run } from '../host/command.ts'
import type { AskProbe } from './probe-watch.ts'

/** The hub may name ports and paths, not hosts: a probe never leaves this machine. */
const LOOPBACK = '127.0.0.1'

/** Asks probes on this node. `exec` runs what the node's policy has under that name, and nothing else. */
export function askOn({ policy }: EdgeConfig): AskProbe {
  return async (probe, timeoutMs) => {
    try {
      return await ask(probe, timeoutMs, policy)
    } catch (error) {
      return messageOf(error)
    }
  }
}

async function ask(
  { exec, httpGet, tcpSocket }: HealthProbe,
  timeoutMs: number,
  { probes }: EdgeConfig['policy'],
): Promise<string | undefined> {
  if (exec) {
    const [program = '', ...args] = Object.hasOwn(probes, exec.name) ? (probes[exec.name] ?? []) : []
    await run(program, args, { timeoutMs })
    return undefined
  }
  const signal = AbortSignal.timeout(timeoutMs)
  if (httpGet) return askHttp(httpGet.port, httpGet.path, signal)
  if (tcpSocket) await askTcp(tcpSocket.port, signal)
  return undefined
}

async function askHttp(port: number, path: string, signal: AbortSignal): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const call = get({ host: LOOPBACK, port, path, agent: false, signal }, (answer) => {
    resolve(answer.statusCode ?? 0)
    // The status is all that counts, however much may follow.
    answer.destroy()
  })
  call.on('error', reject)
  const status = await promise
  return status >= 200 && status < 400 ? undefined : `HTTP ${status}`
}

async function askTcp(port: number, signal: AbortSignal): Promise<void> {
  const socket = connect({ host: LOOPBACK, port, signal })
  try {
    await once(socket, 'connect', { signal })
  } finally {
    socket.destroy()
  }
}
