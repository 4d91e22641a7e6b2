import { dirname, join } from 'node:path'
import { type EdgeConfig, edgehubSandbox, quoted, updaterSandbox } from '@upgrade-hub/upgrader'

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

/** From the power coming back until the agent's files are whole; the agent does not wait for longer. */
const RESUME_TIMEOUT_S = 300

/** systemd units by file name. */
export function unitFiles(
  programs: Programs,
  configPath: string,
  config: EdgeConfig,
): Record<string, string> {
  return {
    'edgehub.service': edgehubUnit([...programs.edgehub, '--config', configPath], config),
    'upgrade-hub-resume.service': resumeUnit(
      [...programs.edgeadm, 'attempt', 'resume', '--config', configPath],
      config,
    ),
  }
}

function edgehubUnit(argv: readonly string[], config: EdgeConfig): string {
  return `[Unit]
Description=Upgrade Hub: the session of this node with its hub
Wants=network-online.target
After=network-online.target upgrade-hub-resume.service
StartLimitIntervalSec=0

[Service]
ExecStart=${commandLine(argv)}
Restart=always
RestartSec=2
KillMode=process
UMask=0077
OOMScoreAdjust=-500
${edgehubSandbox(config).join('\n')}

[Install]
WantedBy=multi-user.target
`
}

/** It is ready, and the agent may start, as soon as the agent's files are whole; then it goes on to prove that agent. */
function resumeUnit(argv: readonly string[], config: EdgeConfig): string {
  const agents = config.components.flatMap(({ service }) =>
    service.manager === 'systemd' ? [service.unit] : [],
  )
  return `[Unit]
Description=Upgrade Hub: carry on an upgrade that a power loss has interrupted
After=local-fs.target
Before=${agents.join(' ')}

[Service]
Type=notify
NotifyAccess=all
ExecStart=${commandLine(argv)}
TimeoutStartSec=${RESUME_TIMEOUT_S}
KillMode=process
UMask=0077
OOMScoreAdjust=-500
${updaterSandbox(config).join('\n')}

[Install]
WantedBy=multi-user.target
`
}

/** Quoted as systemd.service(5) reads it: no specifier, variable or blank of a path means anything. */
function commandLine(argv: readonly string[]): string {
  return argv.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')
}
