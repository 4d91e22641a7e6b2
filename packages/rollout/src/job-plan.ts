import type {
  Amount,
  Drain,
  HealthProbe,
  MaintenanceWindow,
  NodeUpgradeJob,
  NodeUpgradeJobSpec,
  StageTimeouts,
  UpgradeHubSpec,
  Wave,
} from '@upgrade-hub/api'
import {
  canonicalVersion,
  formatImage,
  imageForVersion,
  isVersion,
  parseImage,
  sha256Hex,
} from '@upgrade-hub/core'
import { isEmptySelector, selectorProblem } from './selector.ts'
import { zoneProblem } from './window.ts'

/** A job's spec with every default filled in and every spelling made one: what decisions and tasks are made from. */
export interface JobPlan {
  readonly version: string
  /** `registry/repository:tag`, or with a digest. */
  readonly image: string
  readonly tool: string
  readonly component: string
  /** Of each of the two phases. */
  readonly timeoutSeconds: number
  readonly timeouts: Required<StageTimeouts>
  readonly maxConcurrent: Amount
  readonly maxUnavailable?: Amount
  /** 0: as many as may upgrade at the same time. */
  readonly prepareAhead: Amount
  readonly tolerance: number
  readonly waves: readonly Wave[]
  readonly window?: MaintenanceWindow
  readonly isolation: NonNullable<UpgradeHubSpec['isolation']>
  readonly drain: Required<Omit<Drain, 'gracePeriodSeconds'>> & Pick<Drain, 'gracePeriodSeconds'>
  readonly keepCordonedOn: readonly string[]
  readonly offline: { readonly policy: 'Skip' | 'Queue' | 'Fail'; readonly ttlSeconds: number }
  /** Undefined: the job waits as long as it takes. */
  readonly progressDeadlineSeconds?: number
  readonly onFailure: NonNullable<UpgradeHubSpec['onFailure']>
  readonly retry: { readonly limit: number; readonly backoffSeconds: number }
  readonly busyPolicy: NonNullable<UpgradeHubSpec['busyPolicy']>
  readonly versionPolicy: NonNullable<UpgradeHubSpec['versionPolicy']>
  /** By `{os}/{arch}[/{variant}]`. */
  readonly digests: Readonly<Record<string, string>>
  /** Who else must say what the digest is. */
  readonly registryAPI?: { readonly host: string; readonly token: string }
  readonly checkItems: readonly string[]
  readonly requireConfirmation: boolean
  readonly minReadySeconds: number
  readonly probes: readonly HealthProbe[]
}

const DEFAULT_IMAGE = 'kubeedge/installation-package'
const DEFAULT_TIMEOUT_SECONDS = 300
const DEFAULT_TOLERANCE = 0.1
const TOOLS = ['keadm', 'exec']

/**
 * Why a job cannot be run as it stands, in KubeEdge's words where it has some; undefined when it can. Admission refuses the
 * same, but a job may have been stored before we came.
 */
export function specProblem(spec: NodeUpgradeJobSpec | undefined): string | undefined {
  const names = spec?.nodeNames?.length ?? 0
  const selector = spec?.labelSelector
  if (names === 0 && !selector) return 'both NodeNames and LabelSelector are NOT specified'
  if (names > 0 && selector) return 'both NodeNames and LabelSelector are specified'
  if (!isVersion(spec?.version ?? '')) return `invalid version ${spec?.version || '""'}`
  if (spec?.image && !isImage(spec.image)) return `invalid image repo ${spec.image}`
  if (!TOOLS.includes(spec?.upgradeTool || 'keadm'))
    return `unknown upgradeTool ${spec?.upgradeTool}: use ${TOOLS.join(' or ')}`
  if (Number.isNaN(toleranceOf(spec?.failureTolerate)))
    return `failureTolerate ${spec?.failureTolerate} is not a ratio from 0 to 1`
  const zone = zoneProblem(spec?.upgradeHub?.window)
  if (zone) return zone
  if (!selector) return undefined
  if (isEmptySelector(selector) && !spec?.upgradeHub?.allNodes) {
    return 'an empty labelSelector means every edge node: set upgradeHub.allNodes to true if that is meant'
  }
  return selectorProblem(selector)
}

const plans = new WeakMap<NodeUpgradeJob, JobPlan>()
const hashes = new WeakMap<NodeUpgradeJob, string>()

/** The plan of a spec that has no problem, worked out once per object. @throws ParseError for one that has. */
export function jobPlan(job: NodeUpgradeJob): JobPlan {
  return once(plans, job, () => planOf(job.spec ?? {}))
}

/** Ties tasks to the spec that they were made from: SHA-256 of its JSON with sorted keys, worked out once per object. */
export function specHash(job: NodeUpgradeJob): string {
  return once(hashes, job, () => sha256Hex(canonicalJson(job.spec ?? {})))
}

function planOf(spec: NodeUpgradeJobSpec): JobPlan {
  const ours = spec.upgradeHub ?? {}
  const version = canonicalVersion(spec.version ?? '')
  const timeoutSeconds = spec.timeoutSeconds || DEFAULT_TIMEOUT_SECONDS
  return {
    version,
    image: imageOf(spec, version),
    tool: spec.upgradeTool || 'keadm',
    component: ours.component ?? 'edgecore',
    timeoutSeconds,
    timeouts: stageTimeouts(ours.timeouts ?? {}, timeoutSeconds),
    maxConcurrent: ours.maxConcurrent ?? Math.max(1, spec.concurrency ?? 1),
    ...(ours.maxUnavailable === undefined ? {} : { maxUnavailable: ours.maxUnavailable }),
    prepareAhead: ours.prepareAhead ?? 0,
    tolerance: toleranceOf(spec.failureTolerate),
    waves: ours.waves ?? [],
    ...(ours.window ? { window: ours.window } : {}),
    isolation: ours.isolation ?? 'Cordon',
    drain: drainOf(ours.drain),
    keepCordonedOn: ours.keepCordonedOn ?? ['RollbackFailed'],
    offline: { policy: ours.offline?.policy ?? 'Skip', ttlSeconds: ours.offline?.ttlSeconds ?? 86_400 },
    ...(ours.progressDeadlineSeconds ? { progressDeadlineSeconds: ours.progressDeadlineSeconds } : {}),
    onFailure: ours.onFailure ?? 'Stop',
    retry: { limit: ours.retry?.limit ?? 0, backoffSeconds: ours.retry?.backoffSeconds ?? 60 },
    busyPolicy: ours.busyPolicy ?? 'Wait',
    versionPolicy: ours.versionPolicy ?? 'UpgradeOnly',
    digests: digestsOf(spec),
    ...(spec.imageDigestGatter?.registryAPI ? { registryAPI: spec.imageDigestGatter.registryAPI } : {}),
    checkItems: spec.checkItems ?? [],
    requireConfirmation: spec.requireConfirmation ?? false,
    minReadySeconds: ours.health?.minReadySeconds ?? 10,
    probes: ours.health?.probes ?? [],
  }
}

function drainOf(drain: Drain = {}): JobPlan['drain'] {
  return {
    timeoutSeconds: drain.timeoutSeconds ?? 600,
    ...(drain.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: drain.gracePeriodSeconds }),
    emptyDir: drain.emptyDir ?? 'Refuse',
    unmanagedPods: drain.unmanagedPods ?? 'Refuse',
    onTimeout: drain.onTimeout ?? 'Fail',
  }
}

/** JSON in which the order of keys says nothing. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/** `checkSeconds` and the download share the first phase; a short `timeoutSeconds` leaves each at least half of it. */
function stageTimeouts(said: StageTimeouts, phaseSeconds: number): Required<StageTimeouts> {
  const checkSeconds = Math.min(said.checkSeconds || 60, phaseSeconds)
  return {
    checkSeconds,
    downloadSeconds:
      said.downloadSeconds || Math.max(phaseSeconds - checkSeconds, Math.ceil(phaseSeconds / 2)),
    confirmSeconds: said.confirmSeconds || 86_400,
    upgradeSeconds: said.upgradeSeconds || phaseSeconds,
    rollbackSeconds: said.rollbackSeconds || 300,
    verifySeconds: said.verifySeconds || 120,
  }
}

function toleranceOf(text: string | undefined): number {
  return ratioOf(text) ?? DEFAULT_TOLERANCE
}

/** A ratio from 0 to 1 written as text; undefined for none, NaN for what is none. */
export function ratioOf(text: string | undefined): number | undefined {
  if (!text) return undefined
  const ratio = Number(text)
  return ratio >= 0 && ratio <= 1 ? ratio : Number.NaN
}

/** `imageDigestGatter.value` pins the image itself; a digest that stands in `image` wins over it. */
function imageOf(spec: NodeUpgradeJobSpec, version: string): string {
  const reference = imageForVersion(spec.image || DEFAULT_IMAGE, version)
  const digest = spec.imageDigestGatter?.value
  if (reference.digest || !digest) return formatImage(reference)
  const { tag: _, ...untagged } = reference
  return formatImage({ ...untagged, digest })
}

function digestsOf({ imageDigestGatter: gatter, upgradeHub }: NodeUpgradeJobSpec): Record<string, string> {
  return {
    ...(gatter?.amd64 ? { 'linux/amd64': gatter.amd64 } : {}),
    ...(gatter?.arm64 ? { 'linux/arm64': gatter.arm64 } : {}),
    ...upgradeHub?.digests,
  }
}

function isImage(text: string): boolean {
  try {
    return parseImage(text) !== undefined
  } catch {
    return false
  }
}

function once<K extends object, V>(known: WeakMap<K, V>, key: K, make: () => V): V {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  return made
}
