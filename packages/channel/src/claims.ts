import { type Frame, OPERATION, type Result } from '@upgrade-hub/protocol'

/** `upgrade/{upgradeID}/node/{node}`, read from its end: a job may itself be called `node`. */
const TASK_RESOURCE = /^upgrade\/[^/]+\/node\/([^/]+)$/

/** True when a frame speaks for another node than the one its session belongs to. */
export function speaksForOther(frame: Frame, nodeName: string): boolean {
  const named = TASK_RESOURCE.exec(frame.resource)?.[1]
  if (named !== undefined && named !== nodeName) return true
  return frame.operation === OPERATION.result && (frame.content as Result).NodeName !== nodeName
}
