export {
  Component,
  componentOf,
  EdgeConfig,
  loadEdgeConfig,
  parseEdgeConfig,
  ServiceConfig,
} from './config.ts'
export { CommandError, LockHeldError, StepError, UnreadableError } from './errors.ts'
export { bootId, machineId, monotonicMs } from './host/boot.ts'
export { run as runProgram, SAFE_ENV, systemProgram } from './host/command.ts'
export { makeFolder, writeDurable } from './host/durable.ts'
export { acquireLock } from './host/lock.ts'
export { type LaunchOptions, launchUpdater } from './launch.ts'
export { postResult } from './post-result.ts'
export { probeVersion } from './probe.ts'
export { edgehubSandbox, quoted, updaterSandbox } from './sandbox.ts'
export { createService, type Service, type ServiceState } from './service/service.ts'
export { openSpool } from './spool.ts'
export { openAttemptStore } from './store/attempt-store.ts'
export type {
  AttemptPhase,
  AttemptStore,
  AttemptView,
  Permit,
  PostOutcome,
  Spool,
  SpooledResult,
} from './types.ts'
export { EDGE_VERSION } from './version.ts'
