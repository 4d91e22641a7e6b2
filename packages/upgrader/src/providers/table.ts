import { exec } from './exec.ts'
import { keadm } from './keadm.ts'
import type { UpgradeProvider } from './provider.ts'
import { isUpgradeTool, type UpgradeTool } from './tools.ts'

const PROVIDERS: Readonly<Record<UpgradeTool, UpgradeProvider>> = { keadm, exec }

/** The provider of a tool; undefined when this release has none. */
export function providerOf(tool: string): UpgradeProvider | undefined {
  return isUpgradeTool(tool) ? PROVIDERS[tool] : undefined
}
