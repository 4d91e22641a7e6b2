import { randomBytes } from 'node:crypto'
import { HUB_NAMESPACE } from '@upgrade-hub/api'
import type { Logger } from '@upgrade-hub/core'
import { KubeError, SECRETS, type Secret } from '@upgrade-hub/kube'
import { type Ca, createCa, loadCa } from '@upgrade-hub/pki'
import { StartError } from '../errors.ts'
import type { KubeApi } from '../kube-api.ts'

export const CA_SECRET = 'upgrade-hub-ca'
const CA_DAYS = 3650

/** What every replica signs and verifies with. */
export interface HubCa {
  readonly ca: Ca
  /** Signs bootstrap tokens; independent of the CA key, so that neither is at risk for the other. */
  readonly tokenKey: Buffer
}

/**
 * The CA of this installation, from its Secret; made once by whoever comes first. The name `upgrade-hub-ca` in namespace
 * `upgrade-hub` decides the race. @throws StartError HUB_CA_INVALID, KubeError
 */
export async function openHubCa(client: KubeApi, log: Logger): Promise<HubCa> {
  return readSecret((await findSecret(client)) ?? (await createSecret(client, log)))
}

async function findSecret(client: KubeApi): Promise<Secret | undefined> {
  try {
    return await client.get(SECRETS, CA_SECRET, { namespace: HUB_NAMESPACE })
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound) return undefined
    throw error
  }
}

async function createSecret(client: KubeApi, log: Logger): Promise<Secret> {
  const ca = await createCa({ commonName: 'upgrade-hub-ca', validDays: CA_DAYS })
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: CA_SECRET, namespace: HUB_NAMESPACE },
    type: 'Opaque',
    data: {
      'ca.crt': Buffer.from(ca.certPem).toString('base64'),
      'ca.key': Buffer.from(ca.keyPem).toString('base64'),
      'token.key': randomBytes(32).toString('base64'),
    },
  }
  try {
    const created = await client.create(SECRETS, secret, { namespace: HUB_NAMESPACE })
    log.info({ stored: `Secret ${HUB_NAMESPACE}/${CA_SECRET}` }, 'certificate authority made')
    return created
  } catch (error) {
    // Another replica was first, or the answer was lost: what is stored is the truth.
    const found = await findSecret(client)
    if (found) return found
    throw error
  }
}

async function readSecret({ data = {} }: Secret): Promise<HubCa> {
  const read = (name: string) => Buffer.from(data[name] ?? '', 'base64')
  const tokenKey = read('token.key')
  try {
    const ca = await loadCa({ certPem: read('ca.crt').toString(), keyPem: read('ca.key').toString() })
    if (tokenKey.length >= 32) return { ca, tokenKey }
  } catch (error) {
    throw new StartError(
      'HUB_CA_INVALID',
      `Secret ${HUB_NAMESPACE}/${CA_SECRET} does not hold a usable CA`,
      error,
    )
  }
  throw new StartError('HUB_CA_INVALID', `Secret ${HUB_NAMESPACE}/${CA_SECRET} has no token.key of 32 bytes`)
}
