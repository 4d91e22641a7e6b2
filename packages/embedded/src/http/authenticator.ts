import { createHash } from 'node:crypto'
import { StatusError } from '../errors.ts'

/** Who sends a request, as a `UserInfo` of authentication.k8s.io/v1. */
export interface User {
  readonly username: string
  readonly groups: readonly string[]
}

export interface TokenUser {
  readonly user: string
  readonly groups: readonly string[]
}

const AUTHENTICATED = 'system:authenticated'
const BEARER = /^Bearer ([!-~]{1,4096})$/i

/** Knows the bearer tokens; it looks them up by digest, so that the time of an answer tells nothing of them. */
export class Authenticator {
  readonly #users: ReadonlyMap<string, User>

  constructor(tokens: Readonly<Record<string, TokenUser>>) {
    const entries = Object.entries(tokens).map(([token, { user, groups }]) => {
      const all = [...new Set([...groups, AUTHENTICATED])]
      return [digest(token), { username: user, groups: all }] as const
    })
    this.#users = new Map(entries)
  }

  /** Throws 401 for a header without a known token. */
  authenticate(authorization: string | undefined): User {
    const token = BEARER.exec(authorization ?? '')?.[1]
    const user = token === undefined ? undefined : this.ofToken(token)
    if (!user) throw new StatusError(401, 'Unauthorized', 'Unauthorized')
    return user
  }

  ofToken(token: string): User | undefined {
    return this.#users.get(digest(token))
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
