import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { RenewalError } from './errors.ts'

const RENEW_TIMEOUT_MS = 120_000

/** Runs `edgeadm cert renew` and waits for it; its lines go where ours go. @throws RenewalError */
export async function renewCertificate(options: {
  edgeadm: readonly [string, ...string[]]
  configPath: string
  signal: AbortSignal
}): Promise<void> {
  const [program, ...first] = options.edgeadm
  const child = spawn(program, [...first, 'cert', 'renew', '--config', options.configPath], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'inherit', 'inherit'],
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(RENEW_TIMEOUT_MS)]),
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (code !== 0) throw new RenewalError(`ended with ${code ?? signal}`)
}
