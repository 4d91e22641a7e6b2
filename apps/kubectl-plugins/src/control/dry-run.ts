import type { Flags, FlagTypes } from '../cli/flags.ts'

/** As kubectl has it: nothing, printed only, or sent and thrown away by the API server. */
export type DryRun = 'none' | 'client' | 'server'

export const DRY_RUN_FLAG = { 'dry-run': { type: 'string' } } as const satisfies FlagTypes
export const DRY_RUN_HELP =
  '--dry-run none|client|server   client: say only what would be done; server: let the API server judge it'

/** @throws UsageError */
export function dryRunOf(flags: Flags): DryRun {
  return flags.oneOf('dry-run', ['none', 'client', 'server']) ?? 'none'
}

/** ` (dry run)`, as kubectl adds it. */
export function dryRunSuffix(dryRun: DryRun): string {
  return dryRun === 'none' ? '' : dryRun === 'client' ? ' (dry run)' : ' (server dry run)'
}
