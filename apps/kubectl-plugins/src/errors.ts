import { HubError } from '@upgrade-hub/core'

/** The command line cannot be understood; the message says how it is written. */
export class UsageError extends HubError {
  constructor(message: string) {
    super('PLUGIN_USAGE', message)
  }
}

/** The object that was named is not there. */
export class NotFoundError extends HubError {
  constructor(message: string) {
    super('PLUGIN_NOT_FOUND', message)
  }
}

/** What was asked for makes no sense for the job or node as it stands. Nothing was written. */
export class RefusedError extends HubError {
  constructor(message: string) {
    super('PLUGIN_REFUSED', message)
  }
}
