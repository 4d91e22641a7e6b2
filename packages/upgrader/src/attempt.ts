export {
  type LocalOptions,
  type LocalRequest,
  openLocalAttempts,
  runLocalAttempt,
} from './attempt/local-attempt.ts'
export { type RunOptions, runAttempt } from './attempt/run-attempt.ts'
export { tidyAfterBoot } from './attempt/tidy-after-boot.ts'
export { acquireLock, type Lock } from './host/lock.ts'
export type { AttemptState } from './machine/state.ts'
export { STEPS, type Step } from './machine/steps.ts'
export { createService, type Service } from './service/service.ts'
export { backUp } from './steps/backup.ts'
export { findBackup, listBackups } from './steps/backup-catalog.ts'
export type { Ports, Pulled, PullRequest } from './steps/context.ts'
export { nodeLock } from './store/paths.ts'
