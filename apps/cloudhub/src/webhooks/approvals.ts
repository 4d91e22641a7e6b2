import type { NodeUpgradeJob } from '@upgrade-hub/api'
import type { AdmissionAnswer, AdmissionRequest } from './review.ts'

type Approval = NonNullable<NonNullable<NodeUpgradeJob['control']>['approvals']>[number]

/** Writes who sends a new approval into it where nobody is named. Nothing else is ever changed. */
export function stampApprovals(request: AdmissionRequest): AdmissionAnswer {
  const { username } = request.userInfo ?? {}
  const known = new Set(approvalsIn(request.oldObject).map(({ wave }) => wave))
  const patch = approvalsIn(request.object).flatMap(({ wave, by }, index) =>
    username && !by && !known.has(wave)
      ? [{ op: 'add', path: `/control/approvals/${index}/by`, value: username } as const]
      : [],
  )
  return { allowed: true, ...(patch.length > 0 ? { patch } : {}) }
}

/** Why a new approval is refused: it stands in somebody else's name. */
export function approvalProblem(request: AdmissionRequest): string | undefined {
  const { username = '' } = request.userInfo ?? {}
  const known = new Set(approvalsIn(request.oldObject).map(({ wave }) => wave))
  const foreign = approvalsIn(request.object).find(
    ({ wave, by }) => !known.has(wave) && by && by !== username,
  )
  if (!foreign) return undefined
  return `control.approvals: wave ${foreign.wave} is approved in the name of ${foreign.by}, but you are ${username}: leave out by, it is filled in`
}

function approvalsIn(object: Record<string, unknown> | null | undefined): readonly Approval[] {
  const approvals = (object as NodeUpgradeJob | null | undefined)?.control?.approvals
  return Array.isArray(approvals) ? approvals : []
}
