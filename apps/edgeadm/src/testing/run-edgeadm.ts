import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

/** A sweep starts edgeadm a hundred times: compile it once. */
const CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../../node_modules/.cache/edgeadm', import.meta.url)),
}

/** How a real edgeadm process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/**
 * Runs edgeadm as a process of its own, to its end. `fault` names the point where it kills itself with SIGKILL; so does
 * `kill` when it aborts.
 */
export async function runEdgeadm(
  args: readonly string[],
  fault?: string,
  kill?: AbortSignal,
): Promise<Ended> {
  const env = { ...CACHE, ...(fault === undefined ? {} : { UPGRADE_HUB_FAULT: `${fault}:kill` }) }
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  kill?.addEventListener('abort', () => child.kill('SIGKILL'))
  const [out, err, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: code as number | null, signal: signal as NodeJS.Signals | null, out, err }
}
