import { KUBEEDGE_GROUP, type NodeUpgradeJob, nodeUpgradeJobCrd } from '@upgrade-hub/api'
import { type Cause, type Crd, type JsonObject, judge } from '@upgrade-hub/embedded/schema'
import { neverOpens, type SlimNode, specProblem } from '@upgrade-hub/rollout'
import { HttpError } from '../errors.ts'
import { approvalProblem } from './approvals.ts'
import type { AdmissionAnswer, AdmissionRequest } from './review.ts'
import { warningsOf } from './warnings.ts'

const CRD = nodeUpgradeJobCrd as unknown as Crd
const MAX_MESSAGE = 4_000

/**
 * The verdict on a job: that of the CRD's own schema and rules, so that it holds with the webhook down and reads the same
 * when the webhook is asked alone, and warnings. Deletions are nobody's business here.
 * @throws HttpError 400 for another kind
 */
export function admitJob(
  request: AdmissionRequest,
  { nodes, now }: { nodes: readonly SlimNode[] | undefined; now: number },
): AdmissionAnswer {
  const { kind, operation, subResource = '' } = request
  if (kind.group !== KUBEEDGE_GROUP || kind.kind !== 'NodeUpgradeJob') {
    throw new HttpError(400, 'BAD_REVIEW', 'only NodeUpgradeJob is judged here')
  }
  if (!request.object || operation === 'DELETE' || operation === 'CONNECT' || subResource !== '') {
    return { allowed: true }
  }
  const causes = judgeJob(request)
  if (causes.length > 0) return { allowed: false, message: sentenceOf(causes) }
  const { spec } = request.object as unknown as NodeUpgradeJob
  const problem = approvalProblem(request) ?? (operation === 'CREATE' ? planProblem(spec, now) : undefined)
  if (problem) return { allowed: false, message: problem }
  return { allowed: true, warnings: spec && operation === 'CREATE' ? warningsOf(spec, nodes) : [] }
}

/** What CEL cannot say of a new spec. */
function planProblem(spec: NodeUpgradeJob['spec'], now: number): string | undefined {
  return specProblem(spec) ?? neverOpens(spec?.upgradeHub?.window, now)
}

function judgeJob({ kind, object, oldObject }: AdmissionRequest): readonly Cause[] {
  const isServed = nodeUpgradeJobCrd.spec.versions.some(({ name }) => name === kind.version)
  if (!isServed) throw new HttpError(400, 'BAD_REVIEW', 'this version of NodeUpgradeJob is not served')
  return judge({
    crd: CRD,
    version: kind.version,
    object: object as JsonObject,
    ...(oldObject ? { oldObject: oldObject as JsonObject } : {}),
  })
}

function sentenceOf(causes: readonly Cause[]): string {
  return causes
    .map(({ field, message }) => `${field}: ${message}`)
    .join('; ')
    .slice(0, MAX_MESSAGE)
}
