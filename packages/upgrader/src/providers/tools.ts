/** The upgrade tools that this release knows, by the name that a job gives. */
export const UPGRADE_TOOLS = ['keadm', 'exec'] as const
export type UpgradeTool = (typeof UPGRADE_TOOLS)[number]

export function isUpgradeTool(name: string): name is UpgradeTool {
  return UPGRADE_TOOLS.some((tool) => tool === name)
}
