import { type KubeClient, KubeError, resource } from '@upgrade-hub/kube'
import { type Pod, podsInTheWay, type SlimPod } from '@upgrade-hub/rollout'

type PodObject = Pod & { readonly apiVersion: 'v1'; readonly kind: 'Pod' }
const PODS = resource<PodObject>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true })
const PAGE = 500

/** What is in the way of a drain on a node, asked of the API server itself. */
export async function podsOn(client: KubeClient, nodeName: string, signal: AbortSignal): Promise<SlimPod[]> {
  const pods: Pod[] = []
  let next: string | undefined
  do {
    const fieldSelector = `spec.nodeName=${nodeName}`
    const page = await client.list(PODS, {
      fieldSelector,
      limit: PAGE,
      ...(next ? { continue: next } : {}),
      signal,
    })
    pods.push(...page.items)
    next = page.metadata.continue
  } while (next)
  return podsInTheWay(pods)
}

/** Asks a pod to go. False when a PodDisruptionBudget forbids it for now; one that is gone has gone. */
export async function evict(
  client: KubeClient,
  { namespace, name, uid }: SlimPod,
  { gracePeriodSeconds, signal }: { gracePeriodSeconds: number | undefined; signal: AbortSignal },
): Promise<boolean> {
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: { preconditions: { uid }, ...grace },
  }
  try {
    await client.raw(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, {
      method: 'POST',
      maxTries: 1,
      body,
      signal,
    })
    return true
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    if (error.isTooMany) return false
    if (error.isNotFound || error.isConflict) return true
    throw error
  }
}
