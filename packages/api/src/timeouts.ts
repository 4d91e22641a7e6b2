import { type Static, Type } from 'typebox'
import { integer, SECOND_BOUNDS } from './schema-kit.ts'

export const StageTimeouts = Type.Object({
  checkSeconds: integer('Seconds for the checks on the node. Default 60.', { ...SECOND_BOUNDS, default: 60 }),
  downloadSeconds: integer(
    'Seconds for the download. Default: what is left of timeoutSeconds when it is 0.',
    { ...SECOND_BOUNDS, default: 0 },
  ),
  confirmSeconds: integer('Seconds to wait for a confirmation on the node. Default 86400, a day.', {
    ...SECOND_BOUNDS,
    default: 86_400,
  }),
  upgradeSeconds: integer('Seconds for back-up, stop, swap, start and health. Default 0: timeoutSeconds.', {
    ...SECOND_BOUNDS,
    default: 0,
  }),
  rollbackSeconds: integer('Seconds for a rollback. Default 300.', { ...SECOND_BOUNDS, default: 300 }),
  verifySeconds: integer(
    'Seconds in which the node must be seen Ready at the new version after its report. Default 120.',
    { ...SECOND_BOUNDS, default: 120 },
  ),
})
export type StageTimeouts = Static<typeof StageTimeouts>
