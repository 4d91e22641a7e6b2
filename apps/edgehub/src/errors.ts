import { HubError } from '@upgrade-hub/core'

/** `edgeadm cert renew` did not renew the certificate. */
export class RenewalError extends HubError {
  constructor(why: string) {
    super('EDGEHUB_RENEWAL_FAILED', `edgeadm cert renew ${why}`, { retry: 'backoff' })
  }
}
