import { HubError } from '@upgrade-hub/core'
import type { EdgeCode } from '@upgrade-hub/protocol'

/** A step of an attempt that could not be done; `edgeCode` is what the hub is told. */
export class StepError extends HubError {
  readonly edgeCode: EdgeCode

  constructor(edgeCode: EdgeCode, message: string, options: { cause?: unknown } = {}) {
    super('UPGRADER_STEP_FAILED', message, options)
    this.edgeCode = edgeCode
  }
}

/** A `proceed` that cannot be followed now; nothing was touched and the hub may ask again. */
export class NotNowError extends HubError {
  readonly edgeCode: EdgeCode

  constructor(edgeCode: EdgeCode, message: string) {
    super('UPGRADER_NOT_NOW', message, { retry: 'backoff' })
    this.edgeCode = edgeCode
  }
}

/** The hub or a person has cancelled the attempt before the agent was stopped. */
export class CancelledError extends HubError {
  constructor() {
    super('UPGRADER_CANCELLED', 'cancelled before the agent was stopped')
  }
}

/** Another live process holds the lock of the node or of the attempt. */
export class LockHeldError extends HubError {
  constructor(path: string, holder: string, ageSeconds: number) {
    super('UPGRADER_LOCK_HELD', `${path} is held by ${holder} for ${ageSeconds} s`, { retry: 'backoff' })
  }
}

/** A journal, lock or state file that cannot be understood: nothing is concluded from it. */
export class UnreadableError extends HubError {
  constructor(path: string, why: string) {
    super('UPGRADER_STATE_UNREADABLE', `${path} cannot be read: ${why}`)
  }
}

/** A program that had to be run and did not do its work. */
export class CommandError extends HubError {
  constructor(program: string, why: string) {
    super('UPGRADER_COMMAND_FAILED', `${program} failed: ${why}`, { retry: 'backoff' })
  }
}
