import { type Static, Type } from 'typebox'
import { flag, integer, RATIO, text } from './schema-kit.ts'
import { Approvals } from './waves.ts'

export const JobControl = Type.Object(
  {
    paused: flag('No further node prepares or is taken; what runs finishes. Default false.'),
    cancelled: flag(
      'Nodes that have not been told to proceed end Cancelled; running ones are waited for. Cannot be taken back.',
    ),
    approvals: Approvals,
    retry: integer(
      'Every failed node gets one more attempt for each step up, while the job is open. Can only be raised. Default 0.',
      { minimum: 0, maximum: 16 },
    ),
    failureTolerate: text(
      'Takes the place of spec.failureTolerate: a ratio from 0 to 1 as text. Lets a job go on that onFailure Pause holds. A job that has stopped stays stopped.',
      { pattern: RATIO, maxLength: 32 },
    ),
    ttlSecondsAfterFinished: integer(
      'Seconds after its end when the job is deleted. Default: 30 days, the newest 20 jobs apart.',
      { minimum: 0, maximum: 315_360_000 },
    ),
    adopt: flag('Run a job that another controller had begun. Default false.'),
  },
  { description: 'The mutable half: what an operator may change while the job runs.' },
)
export type JobControl = Static<typeof JobControl>
