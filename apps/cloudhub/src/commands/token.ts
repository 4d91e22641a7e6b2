import { parseArgs } from 'node:util'
import { ConfigError, type Logger } from '@upgrade-hub/core'
import { isNodeName } from '@upgrade-hub/pki'
import { openHubCa } from '../certificates/hub-ca.ts'
import { createToken } from '../gateway/tokens.ts'
import type { KubeApi } from '../kube-api.ts'

export interface TokenRequest {
  /** One token each. */
  readonly nodeNames: readonly string[]
  readonly ttlMs: number
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const MAX_TTL_MS = 30 * 86_400_000

/** Splits `--node N [--node M …] --ttl 24h` off; the rest are settings of the hub. @throws ConfigError */
export function readTokenFlags(args: readonly string[]): { request: TokenRequest; rest: string[] } {
  const options = {
    node: { type: 'string', multiple: true },
    ttl: { type: 'string', default: '24h' },
  } as const
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const own = new Set<number>()
  for (const token of tokens) {
    if (token.kind !== 'option' || !(token.name in options)) continue
    own.add(token.index)
    if (token.value !== undefined && token.inlineValue === false) own.add(token.index + 1)
  }
  const { ttl } = values
  // A flag without its value arrives as `true`, which is no name although it could be one.
  const nodeNames = (values.node ?? []).map((node) => (typeof node === 'string' ? node : ''))
  const ttlMs = durationMs(String(ttl))
  const problems = [
    ...(nodeNames.length > 0 && nodeNames.every(isNodeName) ? [] : ['--node: must be the name of a node']),
    ...(ttlMs > 0 && ttlMs <= MAX_TTL_MS ? [] : ['--ttl: must be a time such as 30m or 24h, at most 30d']),
  ]
  if (problems.length > 0) throw new ConfigError('the command line', problems)
  return { request: { nodeNames, ttlMs }, rest: args.filter((_, i) => !own.has(i)) }
}

/** Makes bootstrap tokens and gives what is printed: the tokens alone, a line each in the order asked, to be piped. */
export async function tokenCommand(client: KubeApi, request: TokenRequest, log: Logger): Promise<string> {
  const { nodeNames, ttlMs } = request
  const hubCa = await openHubCa(client, log)
  const lines: string[] = []
  for (const nodeName of nodeNames) {
    const { token, secret, expiresAt } = await createToken(client, hubCa, { nodeName, ttlMs })
    const stored = `Secret ${secret}`
    log.info({ node: nodeName, stored, expiresAt }, 'bootstrap token made; delete the Secret to revoke it')
    lines.push(token)
  }
  return lines.join('\n')
}

function durationMs(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return Number(amount) * (UNIT_MS[unit] ?? Number.NaN)
}
