import { readFileSync, rmSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { parseArgs } from 'node:util'

/** edgeadm as it is; the first one after a test wrote `{config}.fault` stops itself at the point that stands there. */
const { values } = parseArgs({ options: { config: { type: 'string' } }, strict: false })
const fault = `${String(values.config)}.fault`
enableCompileCache()
try {
  process.env['UPGRADE_HUB_FAULT'] = `${readFileSync(fault, 'utf8')}:stop`
  rmSync(fault)
} catch {
  delete process.env['UPGRADE_HUB_FAULT']
}
await import('../../../apps/edgeadm/src/main.ts')
