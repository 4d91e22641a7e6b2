import { parseHistoryId } from '@upgrade-hub/core'
import type { EdgeConfig } from '../config.ts'
import type { Intent } from '../machine/state.ts'

/** Stands in for an intent that nobody can read any more: enough to see to the agent and to say so to the hub. */
export function lostIntent(config: EdgeConfig, id: string): Intent | undefined {
  const [component] = config.components
  const parts = parseHistoryId(id)
  if (!component || !parts) return undefined
  const prepare = {
    UpgradeID: parts.task,
    HistoryID: id,
    Version: '',
    UpgradeTool: 'keadm',
    Image: '',
    ImageDigest: '',
    RequireConfirmation: false,
    Task: parts.task,
    TaskUID: 'unknown',
    NodeUID: 'unknown',
    Attempt: parts.attempt,
    IntentSeq: 0,
    Component: component.name,
    Purpose: 'Upgrade' as const,
    CheckItems: [],
    Health: { minReadySeconds: 0 },
    Timeouts: {
      checkSeconds: 0,
      downloadSeconds: 0,
      confirmSeconds: 0,
      upgradeSeconds: 0,
      rollbackSeconds: 0,
      verifySeconds: 0,
    },
    VersionPolicy: 'UpgradeOnly' as const,
    Digests: {},
  }
  return { prepare, local: false, isLost: true }
}
