export { type AuditEntry, auditOf } from './audit.ts'
export { describeBoth, describePlanes, uniqueName } from './describe-planes.ts'
export { startEmbeddedPlane } from './embedded-plane.ts'
export { type Answer, call } from './http.ts'
export { type HubOptions, type HubPorts, type RunningHub, startHub } from './hub.ts'
export {
  type Kubectl,
  kubeconfigFor,
  kubectl,
  type OwnedPlane,
  type Plane,
  type PlaneName,
  type UserName,
  writeKubeconfig,
} from './plane.ts'
export { freePorts } from './ports.ts'
export { Program, run } from './program.ts'
export { startRealPlane } from './real-plane.ts'
export { until } from './until.ts'
