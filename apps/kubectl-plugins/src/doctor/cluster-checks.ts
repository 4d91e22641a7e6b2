import { X509Certificate } from 'node:crypto'
import { HUB_NAMESPACE, nodeUpgradeJobCrd, CRDS as OURS } from '@upgrade-hub/api'
import {
  CRDS,
  KubeError,
  LEASES,
  type Lease,
  MUTATING_WEBHOOKS,
  VALIDATING_WEBHOOKS,
  type WebhookConfiguration,
} from '@upgrade-hub/kube'
import { type CrdLike, isOurSchema } from '@upgrade-hub/rollout'
import { newJob } from '../cluster/resources.ts'
import { span } from '../text/time.ts'
import { type Check, type Finding, ifThere, ok, problem, warning } from './finding.ts'

const OLDEST_MINOR = 31
const JOB_CRD = nodeUpgradeJobCrd.metadata.name
const LEASE = 'upgrade-hub-controllers'
const CONFIGURATION = 'upgrade-hub'
const SKEW_MS = 5_000
const DAY_MS = 86_400_000
const EXPIRES_SOON_MS = 7 * DAY_MS
const INSTALL = 'cloudhub install-crds'

export const version: Check = {
  about: 'Kubernetes',
  async run(cluster) {
    const {
      major = '',
      minor = '',
      gitVersion = '',
    } = (await cluster.raw('/version')) as Record<string, string>
    const isOld = major === '1' && Number.parseInt(minor, 10) < OLDEST_MINOR
    return [
      isOld
        ? problem(
            'Kubernetes',
            `${gitVersion} is older than 1.${OLDEST_MINOR}`,
            `upgrade to 1.${OLDEST_MINOR} or newer`,
          )
        : ok('Kubernetes', gitVersion),
    ]
  },
}

export const clock: Check = {
  about: 'clock',
  async run(cluster) {
    await cluster.raw('/version')
    const skewMs = cluster.client.serverOffsetMs()
    if (Math.abs(skewMs) <= SKEW_MS) return [ok('clock', 'this machine and the API server agree')]
    const side = skewMs > 0 ? 'behind' : 'ahead of'
    const message = `this machine is ${span(Math.abs(skewMs))} ${side} the API server`
    return [
      warning(
        'clock',
        message,
        'set its clock by NTP: ages here count by the API server, certificates do not',
      ),
    ]
  },
}

export const schema: Check = {
  about: 'schema',
  async run(cluster) {
    const found = await Promise.all(OURS.map(({ metadata }) => ifThere(cluster.get(CRDS, metadata.name))))
    const missing = OURS.filter((_, at) => found[at] === undefined).map(({ metadata }) => metadata.name)
    if (missing.length > 0) return [problem('schema', `${missing.join(', ')} is not there`, INSTALL)]
    const job = found.find((crd) => crd?.metadata.name === JOB_CRD)
    if (!isOurSchema(job as CrdLike | undefined)) {
      const message = `${JOB_CRD} is not ours (KubeEdge's was applied over it?): the hub writes no job while it is so`
      return [problem('schema', message, `${INSTALL}; and see that nothing applies the other one again`)]
    }
    return [ok('schema', 'the three CRDs are ours')]
  },
}

export const leader: Check = {
  about: 'hub',
  async run(cluster) {
    const lease = await ifThere(cluster.get(LEASES, LEASE, HUB_NAMESPACE))
    return [leaderFinding(lease, cluster.now())]
  },
}

/** Whether a hub leads. Pure. */
export function leaderFinding(lease: Lease | undefined, now: number): Finding {
  const fix = `kubectl -n ${HUB_NAMESPACE} get pods, and look at the log of cloudhub; start one where none runs`
  if (!lease?.spec?.holderIdentity) return problem('hub', 'no hub leads: no job moves', fix)
  const { holderIdentity, renewTime, leaseDurationSeconds } = lease.spec
  const idleMs = now - Date.parse(renewTime ?? '')
  if (Number.isNaN(idleMs) || idleMs > 2_000 * (leaseDurationSeconds ?? 15)) {
    return problem(
      'hub',
      `${holderIdentity} leads, but has said nothing for ${span(idleMs || 0)}: no job moves`,
      fix,
    )
  }
  return ok('hub', `${holderIdentity} leads`)
}

export const webhooks: Check = {
  about: 'webhooks',
  async run(cluster) {
    const [validating, mutating] = await Promise.all([
      ifThere(cluster.get(VALIDATING_WEBHOOKS, CONFIGURATION)),
      ifThere(cluster.get(MUTATING_WEBHOOKS, CONFIGURATION)),
    ])
    const now = cluster.now()
    return [...webhookFindings('validating', validating, now), ...webhookFindings('mutating', mutating, now)]
  },
}

/** Whether the API server can call a webhook of ours. Pure. */
export function webhookFindings(
  kind: string,
  configuration: WebhookConfiguration | undefined,
  now: number,
): Finding[] {
  const about = `${kind} webhook`
  const own = configuration?.webhooks?.filter(({ name }) => name.endsWith('.upgradehub.io')) ?? []
  if (own.length === 0) {
    return [
      warning(
        about,
        'is not registered: only the schema judges jobs',
        'kubectl apply -k manifests, or webhooks.url in the configuration of the hub',
      ),
    ]
  }
  return own.map(({ clientConfig }) => bundleFinding(about, clientConfig.caBundle ?? '', now))
}

function bundleFinding(about: string, caBundle: string, now: number): Finding {
  const fix = 'the hub fills it in by itself: see that a hub with the role webhooks runs, and its log'
  try {
    const certificate = new X509Certificate(Buffer.from(caBundle, 'base64'))
    const leftMs = Date.parse(certificate.validTo) - now
    if (leftMs < 0) return problem(about, `its CA ended ${certificate.validTo}`, fix)
    if (leftMs < EXPIRES_SOON_MS) return warning(about, `its CA ends ${certificate.validTo}`, fix)
    return ok(about, `is registered, with a CA until ${certificate.validTo}`)
  } catch {
    return problem(about, 'has no CA by which the API server could trust it', fix)
  }
}

/** A job that is thrown away: what comes back is what a real one would meet. */
export const admission: Check = {
  about: 'admission',
  async run(cluster) {
    try {
      await cluster.createJob(newJob('doctor-asks', { version: 'v1.0.0', nodeNames: ['doctor-asks'] }), true)
    } catch (error) {
      if (error instanceof KubeError && /cannot create resource/.test(error.message)) {
        return [
          warning(
            'admission',
            'was not asked: you may not create jobs',
            'bind yourself to upgradehub-operator',
          ),
        ]
      }
      if (!(error instanceof KubeError && /webhook/.test(error.message))) throw error
      return [
        problem(
          'admission',
          error.message,
          'no job can be made while the webhook named there does not answer: mend or remove it',
        ),
      ]
    }
    return [ok('admission', 'a job that is fine is let in')]
  },
}
