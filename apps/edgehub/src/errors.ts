import { HubError } from '@upgrade-hub/core'

/** Another edgehub of this node runs: two would push each other out of the session. */
export class AlreadyRunningError extends HubError {
  constructor(path: string) {
    super('EDGEHUB_ALREADY_RUNNING', `another edgehub answers at ${path}`)
  }
}

/** The socket of `edgeadm ctl` could not be opened; everything else works without it. */
export class ControlSocketError extends HubError {
  constructor(path: string, why: string) {
    super('EDGEHUB_CONTROL_SOCKET', `${path}: ${why}`)
  }
}

/** `edgeadm cert renew` did not renew the certificate. */
export class RenewalError extends HubError {
  constructor(why: string) {
    super('EDGEHUB_RENEWAL_FAILED', `edgeadm cert renew ${why}`, { retry: 'backoff' })
  }
}
