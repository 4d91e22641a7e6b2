import { type Static, Type } from 'typebox'
import { amount, integer, list, oneOf, text } from './schema-kit.ts'
import { LabelSelector } from './selector.ts'

export const APPROVALS = ['None', 'Required'] as const
export const WAVE_STATES = ['Pending', 'WaitingForApproval', 'Upgrading', 'Soaking', 'Done'] as const
export type WaveState = (typeof WAVE_STATES)[number]
/** The name of the last wave, which takes what no other took. */
export const REST_WAVE = 'rest'

const WaveName = Type.String({
  description: 'The name of the wave, as a DNS label; rest is the name of the implicit last one.',
  pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
  maxLength: 63,
})

const asMap = (key: string) => ({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] })

export const Wave = Type.Object({
  name: WaveName,
  size: amount(
    'Nodes of the wave, as a number or as a percentage of the nodes that are to be upgraded (rounded up). Default: all that labelSelector matches.',
  ),
  labelSelector: Type.Optional(
    Type.Object(LabelSelector.properties, {
      description: 'Only nodes that match, of those that no earlier wave took. Default: all of those.',
    }),
  ),
  maxConcurrent: amount(
    'Nodes of the wave that upgrade at the same time, as a number or as a percentage of the wave (rounded down, at least 1). Default: that of the job.',
  ),
  soakSeconds: integer(
    'Seconds to wait after the last node of the wave has ended before the next wave. Default 0.',
    { minimum: 0, maximum: 2_592_000, default: 0 },
  ),
  approval: Type.Optional(
    oneOf(APPROVALS, {
      description: 'Required: the wave does not begin before control.approvals names it. Default None.',
      default: 'None',
    }),
  ),
})
export type Wave = Static<typeof Wave>

/** `spec.upgradeHub.waves`. */
export const Waves = list(Wave, {
  description:
    'Groups of nodes, upgraded one after the other; which node is in which is settled when the job is planned. An implicit last wave, rest, takes the nodes that are left. Default: one wave of all.',
  maxItems: 32,
  ...asMap('name'),
} as { description: string })

/** `control.approvals`. */
export const Approvals = list(
  Type.Object({
    wave: WaveName,
    by: text('Who approves. Filled in with the name of who sends it; an approval without it opens nothing.', {
      maxLength: 253,
    }),
    reason: text('Why, for those who read it later.', { maxLength: 1024 }),
  }),
  {
    description: 'Waves that may begin, each named once. Entries can be added, not changed or removed.',
    maxItems: 33,
    ...asMap('wave'),
  } as { description: string },
)

export const WaveStatus = Type.Object({
  name: Type.String({ description: 'The name of the wave.', maxLength: 63 }),
  state: text('Pending, WaitingForApproval, Upgrading, Soaking or Done.', { maxLength: 32 }),
  size: integer('Nodes of the wave that are to be upgraded.'),
  approvedBy: text('Who approved it.', { maxLength: 253 }),
  approvedAt: text('When the approval was seen, RFC 3339.', { maxLength: 40 }),
  startTime: text('When it began, RFC 3339.', { maxLength: 40 }),
  completionTime: text('When its last node ended, RFC 3339; the soak counts from here.', { maxLength: 40 }),
})
export type WaveStatus = Static<typeof WaveStatus>
