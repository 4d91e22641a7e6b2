import { randomBytes } from 'node:crypto'
import { HUB_NAMESPACE } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import { KubeError, SECRETS, type Secret } from '@upgrade-hub/kube'
import { issueToken, PkiError, verifyToken } from '@upgrade-hub/pki'
import type { HubCa } from '../certificates/hub-ca.ts'
import { HttpError } from '../errors.ts'
import type { KubeApi } from '../kube-api.ts'

const TOKEN_LABEL = 'upgradehub.io/bootstrap-token'
const ID = /^[a-f0-9]{16}$/
const PAGE = 500

/** What a bootstrap token grants. */
export interface TokenGrant {
  readonly id: string
  readonly nodeName: string
}

/**
 * Makes a bootstrap token for one node and the Secret that keeps it alive: deleting the Secret revokes the token, and the
 * Secret does not hold it. Expired ones are cleared away on the way. `ttlMs` counts in API-server time.
 * @throws KubeError
 */
export async function createToken(
  client: KubeApi,
  hubCa: HubCa,
  { nodeName, ttlMs }: { nodeName: string; ttlMs: number },
): Promise<{ token: string; secret: string; expiresAt: string }> {
  const id = randomBytes(8).toString('hex')
  const expiresAt = client.serverNow() + ttlMs
  const secret = tokenSecret({ id, nodeName }, rfc3339(expiresAt))
  await removeExpired(client)
  await client.create(SECRETS, secret, { namespace: HUB_NAMESPACE })
  const token = issueToken({ caDer: hubCa.ca.certDer, signingKey: hubCa.tokenKey, id, nodeName, expiresAt })
  return { token, secret: `${HUB_NAMESPACE}/${secret.metadata.name}`, expiresAt: rfc3339(expiresAt) }
}

/**
 * Checks a token for a node: its signature and expiry first, without asking anybody; then that it was not revoked.
 * Every refusal reads the same. @throws HttpError 401 TOKEN_INVALID; KubeError
 */
export async function redeemToken(
  client: KubeApi,
  hubCa: HubCa,
  { jwt, nodeName }: { jwt: string; nodeName: string },
): Promise<TokenGrant> {
  const claims = claimsOf(jwt, hubCa, client.serverNow())
  if (claims.nodeName !== nodeName || !ID.test(claims.id)) throw invalid()
  const secret = await findToken(client, claims.id)
  if (textOf(secret, 'node') !== nodeName || textOf(secret, 'id') !== claims.id) throw invalid()
  return { id: claims.id, nodeName }
}

function claimsOf(jwt: string, hubCa: HubCa, now: number): { id: string; nodeName?: string } {
  try {
    return verifyToken(jwt, { signingKey: hubCa.tokenKey, now })
  } catch (error) {
    throw error instanceof PkiError ? invalid() : error
  }
}

function invalid(): HttpError {
  return new HttpError(401, 'TOKEN_INVALID', 'the token is not valid for this node: ask for a new one')
}

async function findToken(client: KubeApi, id: string): Promise<Secret | undefined> {
  try {
    return await client.get(SECRETS, nameOf(id), { namespace: HUB_NAMESPACE })
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound) return undefined
    throw error
  }
}

async function removeExpired(client: KubeApi): Promise<void> {
  const { items } = await client.list(SECRETS, {
    namespace: HUB_NAMESPACE,
    labelSelector: `${TOKEN_LABEL}=true`,
    limit: PAGE,
  })
  const over = items.filter((secret) => Date.parse(textOf(secret, 'expiresAt')) < client.serverNow())
  for (const { metadata } of over) {
    await client.delete(SECRETS, metadata.name, { namespace: HUB_NAMESPACE }).catch((error: unknown) => {
      if (!(error instanceof KubeError && error.isNotFound)) throw error
    })
  }
}

function tokenSecret({ id, nodeName }: TokenGrant, expiresAt: string): Secret {
  const encode = (text: string) => Buffer.from(text).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: nameOf(id), namespace: HUB_NAMESPACE, labels: { [TOKEN_LABEL]: 'true' } },
    type: TOKEN_LABEL,
    data: { id: encode(id), node: encode(nodeName), expiresAt: encode(expiresAt) },
  }
}

function nameOf(id: string): string {
  return `bootstrap-token-${id}`
}

function textOf(secret: Secret | undefined, key: string): string {
  return Buffer.from(secret?.data?.[key] ?? '', 'base64').toString()
}
