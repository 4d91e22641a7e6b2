/**
 * Why an edge refused or ended an attempt, in one word: `Answer.Code` and `Result.Code`. The hub's table
 * `reason → phase, outcome, retryable, uses an attempt, counts` (packages/rollout) has a row for each.
 */
export const EDGE_CODES = [
  // refused, nothing done, may be asked again
  'Busy',
  'PermissionExpired',
  'PreparedStale',
  // refused for good before anything was touched
  'BadRequest',
  'Unsupported',
  'UnsupportedTool',
  'UnknownComponent',
  'PolicyRefused',
  'NodeReplaced',
  'StaleEpoch',
  'Downgrade',
  'WrongPlatform',
  // failed before the agent was stopped
  'CheckFailed',
  'CheckTimeout',
  'NoSpace',
  'PullFailed',
  'DownloadTimeout',
  'DigestMismatch',
  'TagMoved',
  'BadArchive',
  'VersionMismatch',
  'ConfirmTimeout',
  'BackupFailed',
  'Cancelled',
  // failed after it, so rolled back
  'StopFailed',
  'SwapFailed',
  'StartFailed',
  'HealthFailed',
  'UpgradeTimeout',
  // the end of the road
  'RollbackFailed',
  'StateUnreadable',
  // fine
  'AlreadyAtVersion',
  'Upgraded',
] as const
export type EdgeCode = (typeof EDGE_CODES)[number]
