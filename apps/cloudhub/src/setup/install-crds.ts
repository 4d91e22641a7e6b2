import { CRDS as OUR_CRDS } from '@upgrade-hub/api'
import type { Clock, Logger } from '@upgrade-hub/core'
import { CRDS, type CustomResourceDefinition, KubeError } from '@upgrade-hub/kube'
import { StartError } from '../errors.ts'
import type { KubeApi } from '../kube-api.ts'
import { isSubset } from './subset.ts'

const MAX_TRIES = 5
const POLL_MS = 200
const ESTABLISHED_WITHIN_MS = 30_000

/**
 * Makes the kinds of this hub, or brings them up to date, and waits until the API server serves them. A CRD of the same
 * name that KubeEdge installed is replaced: its stored jobs stay valid under ours. Nothing is written when nothing differs.
 * @throws KubeError, StartError HUB_CRD_NOT_ESTABLISHED
 */
export async function installCrds(
  client: KubeApi,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<void> {
  for (const crd of OUR_CRDS) {
    log.info({ crd: crd.metadata.name, result: await apply(client, crd) }, 'custom resource definition')
  }
  const until = clock.monotonic() + ESTABLISHED_WITHIN_MS
  for (const { metadata } of OUR_CRDS) await established(client, metadata.name, { clock, until })
}

async function apply(
  client: KubeApi,
  wanted: CustomResourceDefinition,
): Promise<'created' | 'updated' | 'unchanged'> {
  const { name, labels } = wanted.metadata
  for (let tries = 0; ; tries++) {
    try {
      const stored = await find(client, name)
      if (!stored) {
        await client.create(CRDS, wanted)
        return 'created'
      }
      if (isSubset(wanted, stored)) return 'unchanged'
      const metadata = { ...stored.metadata, labels: { ...stored.metadata.labels, ...labels } }
      await client.replace(CRDS, { ...stored, metadata, spec: wanted.spec })
      return 'updated'
    } catch (error) {
      if (tries === MAX_TRIES || !isRace(error)) throw error
    }
  }
}

async function find(client: KubeApi, name: string): Promise<CustomResourceDefinition | undefined> {
  try {
    return await client.get(CRDS, name)
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound) return undefined
    throw error
  }
}

function isRace(error: unknown): boolean {
  return error instanceof KubeError && (error.isConflict || error.isAlreadyExists || error.isUnknownOutcome)
}

async function established(
  client: KubeApi,
  name: string,
  { clock, until }: { clock: Clock; until: number },
): Promise<void> {
  for (;;) {
    const { status } = await client.get(CRDS, name)
    const conditions = status?.conditions ?? []
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return
    if (clock.monotonic() >= until) {
      const said = conditions
        .map(({ type, status, message = '' }) => `${type}=${status} ${message}`)
        .join('; ')
      throw new StartError('HUB_CRD_NOT_ESTABLISHED', `${name} is not served: ${said || 'no condition yet'}`)
    }
    await clock.sleep(POLL_MS)
  }
}
