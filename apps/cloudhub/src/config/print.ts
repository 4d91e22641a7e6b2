import { redact } from '@upgrade-hub/observability'
import { stringify } from 'yaml'
import type { HubConfig } from './schema.ts'

/** The configuration as it is used, in YAML, without what must not be shown. */
export function printConfig(config: HubConfig): string {
  return stringify(redact(config))
}
