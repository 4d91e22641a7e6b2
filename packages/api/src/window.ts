import { type Static, Type } from 'typebox'
import { list, oneOf, text } from './schema-kit.ts'

export const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const
/** Each node by its own clock. */
export const NODE_LOCAL = 'NodeLocal'

const Slot = Type.Object({
  days: list(oneOf(DAYS, { description: 'A day of the week.' }), {
    description: 'Days on which the slot begins. Default: every day.',
    maxItems: 7,
  }),
  start: Type.String({
    description:
      'When it opens, as HH:MM on the clock of timeZone. A time that a change of the clock skips means as much later; one that comes twice means the first.',
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    maxLength: 5,
  }),
  durationMinutes: Type.Integer({
    description:
      'Minutes that it stays open, as they pass: a change of the clock does not make it longer or shorter.',
    format: 'int32',
    minimum: 1,
    maximum: 10_080,
  }),
})

const Moment = (description: string) =>
  Type.String({
    description,
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9])?$',
    maxLength: 16,
  })

const Blackout = Type.Object({
  from: Moment(
    'When it begins: a day such as 2026-12-24, or a time of it such as 2026-12-24T18:00, by timeZone.',
  ),
  to: Moment('When it is over: a day, which still belongs to it, or a time, by timeZone.'),
  reason: text('Why, for those who read it later.', { maxLength: 256 }),
})

export const MaintenanceWindow = Type.Object(
  {
    timeZone: text(
      'A name of the IANA time zone database such as Europe/Berlin, or NodeLocal for the clock of each node. Default UTC.',
      { default: 'UTC', maxLength: 64 },
    ),
    slots: list(Slot, {
      description: 'When nodes may begin. Default: at any time that no blackout covers.',
      maxItems: 64,
    }),
    blackouts: list(Blackout, { description: 'When no node begins, whatever the slots say.', maxItems: 64 }),
  },
  {
    description:
      'When nodes may begin to prepare and to upgrade. What has begun goes on after the end. The node itself keeps to it too: its permission to stop the agent ends with the window.',
  },
)
export type MaintenanceWindow = Static<typeof MaintenanceWindow>
