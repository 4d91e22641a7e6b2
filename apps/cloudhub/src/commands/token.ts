import { parseArgs } from 'node:util'
import { ConfigError, type Logger } from '@upgrade-hub/core'
import { isNodeName } from '@upgrade-hub/pki'
import { openHubCa } from '../certificates/hub-ca.ts'
import { createToken } from '../gateway/tokens.ts'
import type { KubeApi } from '../kube-api.ts'

export interface TokenRequest {
  readonly nodeName: string
  readonly ttlMs: number
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const MAX_TTL_MS = 30 * 86_400_000

/** Splits `--node N --ttl 24h` off; the rest are settings of the hub. @throws ConfigError */
export function readTokenFlags(args: readonly string[]): { request: TokenRequest; rest: string[] } {
  const options = { node: { type: 'string' }, ttl: { type: 'string', default: '24h' } } as const
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const own = new Set<number>()
  for (const token of tokens) {
    if (token.kind !== 'option' || !(token.name in options)) continue
    own.add(token.index)
    if (token.value !== undefined && token.inlineValue === false) own.add(token.index + 1)
  }
  const { node, ttl } = values
  const ttlMs = durationMs(String(ttl))
  const problems = [
    ...(typeof node === 'string' && isNodeName(node) ? [] : ['--node: must be the name of a node']),
    ...(ttlMs > 0 && ttlMs <= MAX_TTL_MS ? [] : ['--ttl: must be a time such as 30m or 24h, at most 30d']),
  ]
  if (problems.length > 0) throw new ConfigError('the command line', problems)
  return { request: { nodeName: String(node), ttlMs }, rest: args.filter((_, i) => !own.has(i)) }
}

/** Makes a bootstrap token and gives what is printed: the token alone, so that it can be piped. */
export async function tokenCommand(client: KubeApi, request: TokenRequest, log: Logger): Promise<string> {
  const { token, secret, expiresAt } = await createToken(client, await openHubCa(client, log), request)
  log.info(
    { node: request.nodeName, stored: `Secret ${secret}`, expiresAt },
    'bootstrap token made; delete the Secret to revoke it',
  )
  return token
}

function durationMs(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return Number(amount) * (UNIT_MS[unit] ?? Number.NaN)
}
