export * from './control.ts'
export {
  CRDS,
  type CrdVersion,
  type CustomResourceDefinition,
  edgeIdentityCrd,
  nodeUpgradeJobCrd,
  nodeUpgradeTaskCrd,
} from './crds.ts'
export * from './drain.ts'
export * from './identity.ts'
export * from './job.ts'
export * from './job-status.ts'
export * from './kinds.ts'
export type { ManagedFields, ObjectMeta, OwnerReference } from './meta.ts'
export * from './names.ts'
export type { Node } from './node.ts'
export type { HealthProbe } from './probes.ts'
export type { Amount } from './schema-kit.ts'
export * from './selector.ts'
export type { StructuralSchema } from './structural.ts'
export * from './task.ts'
export * from './timeouts.ts'
export * from './upgrade-hub-spec.ts'
export * from './waves.ts'
export * from './window.ts'
