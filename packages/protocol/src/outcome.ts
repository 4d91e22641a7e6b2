import type { Outcome, UpgradeStatus } from './schemas.ts'

/**
 * KubeEdge's word for how an upgrade ended (`NodeUpgradeJobResponse.Status`), or empty where none of its three is true.
 * The only place that knows the mapping.
 */
export function upgradeStatusOf(outcome: Outcome | undefined): UpgradeStatus | '' {
  switch (outcome) {
    case 'Succeeded':
      return 'upgrade_success'
    case 'RolledBack':
      return 'upgrade_failed_rollback_success'
    case 'RollbackFailed':
      return 'upgrade_failed_rollback_failed'
    default:
      return ''
  }
}

/** The other way round, for a result of KubeEdge's own keadm, which sends only `Status`. */
export function outcomeOf(status: string): Outcome | undefined {
  switch (status) {
    case 'upgrade_success':
      return 'Succeeded'
    case 'upgrade_failed_rollback_success':
      return 'RolledBack'
    case 'upgrade_failed_rollback_failed':
      return 'RollbackFailed'
    default:
      return undefined
  }
}
