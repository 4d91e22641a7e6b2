import { dirname, join } from 'node:path'

/** How the programs of this release are run: absolute programs and their first arguments. */
export interface Programs {
  readonly edgehub: readonly string[]
  readonly edgeadm: readonly string[]
}

/** edgehub of the same release as the running edgeadm: beside the bundle, or in its workspace of a checkout. */
export function programsBeside(execPath: string, ownPath: string): Programs {
  const folder = dirname(ownPath)
  const edgehub = ownPath.endsWith('.ts')
    ? join(folder, '../../edgehub/src/main.ts')
    : join(folder, 'edgehub.cjs')
  return { edgehub: [execPath, edgehub], edgeadm: [execPath, ownPath] }
}

/** The boot unit must not keep the agent from starting for ever. */
const RESUME_TIMEOUT_S = 900

/** systemd units by file name. */
export function unitFiles(programs: Programs, configPath: string, agentUnit: string): Record<string, string> {
  return {
    'edgehub.service': `[Unit]
Description=Upgrade Hub: the session of this node with its hub
Wants=network-online.target
After=network-online.target upgrade-hub-resume.service

[Service]
ExecStart=${commandLine([...programs.edgehub, '--config', configPath])}
Restart=always
RestartSec=2
KillMode=process
UMask=0077
OOMScoreAdjust=-500

[Install]
WantedBy=multi-user.target
`,
    'upgrade-hub-resume.service': `[Unit]
Description=Upgrade Hub: carry on an upgrade that a power loss has interrupted
After=local-fs.target
Before=${agentUnit}

[Service]
Type=oneshot
ExecStart=${commandLine([...programs.edgeadm, 'attempt', 'resume', '--config', configPath])}
TimeoutStartSec=${RESUME_TIMEOUT_S}
KillMode=process
UMask=0077

[Install]
WantedBy=multi-user.target
`,
  }
}

/** Quoted as systemd.service(5) reads it: no specifier, variable or blank of a path means anything. */
function commandLine(argv: readonly string[]): string {
  return argv
    .map((word) => `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`)
    .join(' ')
}
