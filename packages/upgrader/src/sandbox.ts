import { dirname } from 'node:path'
import type { EdgeConfig } from './config.ts'

/** What a unit of ours may do, whatever it is for. @see systemd.exec(5) */
const COMMON = [
  'NoNewPrivileges=yes',
  'ProtectHome=read-only',
  'PrivateTmp=yes',
  'LockPersonality=yes',
  'RestrictRealtime=yes',
  'SystemCallArchitectures=native',
]

/**
 * The settings of the units that change the agent: everything is read-only but staging, backup, state and the folders of
 * what is upgraded. Where an operator's own program does the work, or the agent is a child of the updater and not a unit,
 * nobody knows what they may have to write, and nothing is closed.
 */
export function updaterSandbox(config: EdgeConfig): readonly string[] {
  const ownPrograms = config.policy.tools.some((tool) => tool !== 'keadm')
  if (ownPrograms || config.components.some(({ service }) => service.manager !== 'systemd')) return []
  const targets = config.components.flatMap(({ binary, companions, state: files }) =>
    [binary, ...companions, files.config, files.db].filter((path) => path !== undefined).map(dirname),
  )
  const { state, etc } = config.paths
  return [...COMMON, 'ProtectSystem=strict', writable([state, etc, '/run/systemd/system', ...targets])]
}

/** The settings of edgehub.service: it reads, talks, and writes its journal, its socket and its certificate. */
export function edgehubSandbox(config: EdgeConfig): readonly string[] {
  if (config.detach !== 'systemd') return []
  return [
    ...COMMON,
    'ProtectSystem=strict',
    writable([config.paths.state, dirname(config.certificates.cert)]),
    ...runtimeFolder(config.paths.run),
    'PrivateDevices=yes',
    'ProtectClock=yes',
    'ProtectHostname=yes',
    'ProtectKernelLogs=yes',
    'ProtectKernelModules=yes',
    // Not ProtectKernelTunables, which hides what a container has mounted over single files: the identity of its boot.
    'ReadOnlyPaths=/proc/sys /sys',
    'RestrictNamespaces=yes',
    'RestrictSUIDSGID=yes',
    'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
    'CapabilityBoundingSet=CAP_DAC_READ_SEARCH',
    'SystemCallFilter=@system-service',
    'SystemCallErrorNumber=EPERM',
  ]
}

/** `/run` is empty after a boot, so systemd makes the folder; it must outlive a restart of the unit. */
function runtimeFolder(path: string): readonly string[] {
  const name = /^\/run\/([\w.-]+(?:\/[\w.-]+)*)$/.exec(path)?.[1]
  if (name === undefined) return [writable([path])]
  return [`RuntimeDirectory=${name}`, 'RuntimeDirectoryMode=0700', 'RuntimeDirectoryPreserve=yes']
}

/** A folder that is not there does not keep the unit from starting. */
function writable(folders: readonly string[]): string {
  const words = [...new Set(folders)].map((path) => quoted(`-${path}`))
  return `ReadWritePaths=${words.join(' ')}`
}

/** One word for a unit file, whatever is in it. @see systemd.syntax(7) */
export function quoted(word: string): string {
  return `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`
}
