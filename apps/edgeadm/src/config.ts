/** Where the edge's configuration is when `--config` does not say. */
export const DEFAULT_CONFIG_PATH = '/etc/kubeedge/config/edgehub.yaml'

const FAULT = /^(?<point>[A-Za-z0-9]+\.[A-Za-z0-9]+):kill$/

/** The environment of this process; read here and nowhere else. */
export interface Environment {
  /** `UPGRADE_HUB_FAULT=E7.before:kill`: the point where tests kill this process. */
  readonly fault: string | undefined
}

export function readEnvironment(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Environment {
  return { fault: FAULT.exec(env['UPGRADE_HUB_FAULT'] ?? '')?.groups?.['point'] }
}
