import type { NodeUpgradeJob } from '@upgrade-hub/api'
import type { Command } from '../cli/command.ts'
import { assertOpen } from './assert-open.ts'
import { DRY_RUN_FLAG, DRY_RUN_HELP } from './dry-run.ts'
import { type Steering, steer } from './steer.ts'

const common = {
  usage: 'JOB…',
  help: [DRY_RUN_HELP],
  flags: DRY_RUN_FLAG,
  formats: [],
  argument: 'job',
} as const

/** `pause JOB…` */
export const pause: Command = {
  ...common,
  name: 'pause',
  summary: 'start no further node; those that were told to proceed finish',
  run: (context) => steer(context, pausing),
}

/** `resume JOB…` */
export const resume: Command = {
  ...common,
  name: 'resume',
  summary: 'go on with a paused job',
  run: (context) => steer(context, resuming),
}

/** `cancel JOB…` */
export const cancel: Command = {
  ...common,
  name: 'cancel',
  summary: 'end what waits; nodes that were told to proceed finish. Cannot be taken back',
  run: (context) => steer(context, cancelling),
}

/** Whether a job can be paused, and how. @throws RefusedError */
function pausing(job: NodeUpgradeJob): Steering {
  assertOpen(job, 'paused')
  if (job.control?.paused) return { said: 'is paused already' }
  return { control: { paused: true }, said: 'paused' }
}

/** Whether a job can go on, and how. @throws RefusedError */
function resuming(job: NodeUpgradeJob): Steering {
  assertOpen(job, 'resumed')
  if (!job.control?.paused) return { said: 'is not paused' }
  return { control: { paused: false }, said: 'resumed' }
}

/** Whether a job can be cancelled, and how. @throws RefusedError */
function cancelling(job: NodeUpgradeJob): Steering {
  if (job.control?.cancelled) return { said: 'is cancelled already' }
  assertOpen(job, 'cancelled')
  return { control: { cancelled: true }, said: 'cancelled' }
}
