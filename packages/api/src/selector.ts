import { type Static, Type } from 'typebox'
import { list } from './schema-kit.ts'

export const NodeName = Type.String({ maxLength: 253 })

export const LabelSelector = Type.Object({
  matchLabels: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 63 }), {
      description: 'Labels that a node must carry with exactly these values.',
      maxProperties: 64,
    }),
  ),
  matchExpressions: list(
    Type.Object({
      key: Type.String({ description: 'The label key that the requirement is about.', maxLength: 317 }),
      operator: Type.String({ description: 'In, NotIn, Exists or DoesNotExist.', maxLength: 16 }),
      values: list(Type.String({ maxLength: 63 }), {
        description: 'The values of In and NotIn; empty for Exists and DoesNotExist.',
        maxItems: 256,
      }),
    }),
    { description: 'Requirements that a node must all meet.', maxItems: 64 },
  ),
})
export type LabelSelector = Static<typeof LabelSelector>
