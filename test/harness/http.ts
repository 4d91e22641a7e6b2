import { Agent, request } from 'undici'
import type { Plane, UserName } from './plane.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed where it is JSON. */
  readonly body: unknown
}

export interface CallOptions {
  readonly as?: UserName
  readonly body?: unknown
  /** `application/json` where absent; patches name their own. */
  readonly contentType?: string
  readonly accept?: string
}

const agents = new Map<string, Agent>()

/** One request to a plane, exactly as given: what tests compare must not be smoothed by a client. */
export async function call(
  plane: Pick<Plane, 'url' | 'caPem' | 'users'>,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { statusCode, headers, body } = await request(`${plane.url}${path}`, {
    method,
    dispatcher: agentOf(plane),
    headers: {
      authorization: `Bearer ${plane.users[options.as ?? 'admin'].token}`,
      accept: options.accept ?? 'application/json',
      ...(options.body === undefined ? {} : { 'content-type': options.contentType ?? 'application/json' }),
    },
    body: options.body === undefined ? null : asText(options.body),
  })
  return { status: statusCode, headers, body: parse(await body.text()) }
}

function asText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function agentOf({ url, caPem }: Pick<Plane, 'url' | 'caPem'>): Agent {
  const agent = agents.get(url) ?? new Agent({ connect: { ca: caPem } })
  agents.set(url, agent)
  return agent
}
