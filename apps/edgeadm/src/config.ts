import type { ProxySettings } from '@upgrade-hub/oci'

/** Where the edge's configuration is when `--config` does not say. */
export const DEFAULT_CONFIG_PATH = '/etc/kubeedge/config/edgehub.yaml'

const FAULT = /^(?<point>[A-Za-z0-9]+\.[A-Za-z0-9]+):(?<how>kill|stop)$/

/** The environment of this process; read here and nowhere else. */
export interface Environment {
  /** `UPGRADE_HUB_FAULT=E7.before:kill` or `:stop`: the point where tests kill this process, or make it stand still. */
  readonly fault: { readonly point: string; readonly signal: 'SIGKILL' | 'SIGSTOP' } | undefined
  /** `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, also in lower case. An updater that edgehub starts inherits none. */
  readonly proxy: ProxySettings | undefined
  /** `UPGRADE_HUB_LOG`: a file that gets every line of the log, beside standard error. */
  readonly logFile: string | undefined
  /** `NOTIFY_SOCKET` of systemd, which waits to hear that this unit is ready. @see sd_notify(3) */
  readonly notifySocket: string | undefined
}

type Variables = Readonly<Record<string, string | undefined>>

export function readEnvironment(env: Variables = process.env): Environment {
  return {
    fault: faultIn(env['UPGRADE_HUB_FAULT'] ?? ''),
    proxy: proxyIn(env),
    logFile: env['UPGRADE_HUB_LOG'],
    notifySocket: env['NOTIFY_SOCKET'],
  }
}

function faultIn(text: string): Environment['fault'] {
  const { point, how } = FAULT.exec(text)?.groups ?? {}
  return point === undefined ? undefined : { point, signal: how === 'stop' ? 'SIGSTOP' : 'SIGKILL' }
}

function proxyIn(env: Variables): ProxySettings | undefined {
  const either = (name: string) => env[name.toLowerCase()] || env[name]
  const [http, https] = [either('HTTP_PROXY'), either('HTTPS_PROXY')]
  if (!http && !https) return undefined
  return { ...(http ? { http } : {}), ...(https ? { https } : {}), noProxy: either('NO_PROXY') ?? '' }
}
