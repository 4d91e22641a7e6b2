import { type Static, Type } from 'typebox'
import { integer, oneOf } from './schema-kit.ts'

export const POD_RULES = ['Refuse', 'Delete'] as const
export const DRAIN_TIMEOUTS = ['Fail', 'Skip', 'Proceed'] as const

export const Drain = Type.Object(
  {
    timeoutSeconds: integer('Seconds in which the node must be empty. Default 600.', {
      minimum: 1,
      maximum: 86_400,
      default: 600,
    }),
    gracePeriodSeconds: integer('Seconds that a pod gets to end. Default: what the pod itself says.', {
      minimum: 0,
      maximum: 86_400,
    }),
    emptyDir: Type.Optional(
      oneOf(POD_RULES, {
        description:
          'Pods with data in an emptyDir, which is lost: Refuse the node, or Delete them. Default Refuse.',
        default: 'Refuse',
      }),
    ),
    unmanagedPods: Type.Optional(
      oneOf(POD_RULES, {
        description: 'Pods that no controller brings back: Refuse the node, or Delete them. Default Refuse.',
        default: 'Refuse',
      }),
    ),
    onTimeout: Type.Optional(
      oneOf(DRAIN_TIMEOUTS, {
        description:
          'When the node is not empty in time: Fail it, Skip it, or Proceed with what is left on it. Default Fail.',
        default: 'Fail',
      }),
    ),
  },
  {
    description:
      'How isolation Drain empties a node: by evictions, which respect PodDisruptionBudgets. DaemonSet and mirror pods stay.',
    default: {},
  },
)
export type Drain = Static<typeof Drain>
