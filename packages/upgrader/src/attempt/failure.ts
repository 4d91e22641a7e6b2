import { messageOf } from '@upgrade-hub/core'
import { OciError } from '@upgrade-hub/oci/errors'
import type { EdgeCode } from '@upgrade-hub/protocol'
import { StepError } from '../errors.ts'
import { isFullDisk } from '../host/durable.ts'
import { isPastStop, RULES, type Step } from '../machine/steps.ts'

/** What is told of an error that a step ended with. */
export function failureOf(error: unknown, step: Step): { readonly code: EdgeCode; readonly reason: string } {
  const reason = messageOf(error)
  if (error instanceof StepError) return { code: error.edgeCode, reason }
  if (error instanceof OciError) return { code: error.edgeCode, reason }
  if (!isPastStop(step) && isFullDisk(error)) return { code: 'NoSpace', reason }
  return { code: RULES[step].code, reason }
}
