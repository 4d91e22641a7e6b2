import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { ConfigError, HubError } from '@upgrade-hub/core'
import { KubeError } from '@upgrade-hub/kube'
import { conditionOf } from '@upgrade-hub/rollout'
import { NotFoundError, UsageError } from '../errors.ts'

/** What the plugins end with; printed by `--help` and stable. */
export const EXIT = {
  /** The job is complete, or the verb did what it says. */
  ok: 0,
  /** The job or node failed, or `doctor` found something to mend. */
  failed: 1,
  usage: 2,
  /** The job is not over. */
  running: 3,
  notFound: 4,
  /** The API server or the state of the job does not allow it; nothing was written. */
  refused: 5,
  /** The API server did not answer in time. */
  unreachable: 6,
  unexpected: 70,
  config: 78,
  interrupted: 130,
} as const

export const EXIT_HELP = `Exit codes:
  0  done; of a job: complete          1  failed; of doctor: something is to be mended
  2  wrong usage                       3  the job is not over
  4  no such job or node               5  refused: not allowed, or not possible as things stand
  6  the API server does not answer    78 no usable kubeconfig or Node`

/** How a job stands, as an exit code. */
export function exitCodeOfJob(job: NodeUpgradeJob): number {
  if (conditionOf(job, 'Finished')?.status !== 'True') return EXIT.running
  return conditionOf(job, 'Complete')?.status === 'True' ? EXIT.ok : EXIT.failed
}

/** The exit code of anything that was thrown. */
export function exitCodeOfError(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof NotFoundError) return EXIT.notFound
  if (error instanceof ConfigError) return EXIT.config
  if (error instanceof KubeError) return exitCodeOfAnswer(error)
  if (!(error instanceof HubError)) return EXIT.unexpected
  return error.code === 'KUBE_NO_CREDENTIALS' ? EXIT.config : EXIT.refused
}

function exitCodeOfAnswer({ status }: KubeError): number {
  if (status === 404) return EXIT.notFound
  return status >= 400 && status < 500 && status !== 429 ? EXIT.refused : EXIT.unreachable
}
