import { readFile } from 'node:fs/promises'
import type { ProxySettings, RegistrySettings } from '@upgrade-hub/oci'
import type { EdgeConfig } from '@upgrade-hub/upgrader'

const MAX_FILE_BYTES = 1024 * 1024

/**
 * How this node asks registries. The CA bundle and the credentials are read anew for each pull, so that a change needs no
 * restart; the configuration's proxy wins over the environment's.
 */
export async function registrySettings(
  { registry }: Pick<EdgeConfig, 'registry'>,
  fromEnvironment: ProxySettings | undefined,
): Promise<RegistrySettings> {
  const { parseDockerConfig } = await import('@upgrade-hub/oci')
  const { plainHttp, allow, mirrors, caFile, credentialsFile } = registry
  const proxy = registry.proxy
    ? { ...registry.proxy, noProxy: registry.proxy.noProxy.join(',') }
    : fromEnvironment
  return {
    plainHttp,
    allow,
    mirrors,
    ...(caFile === undefined ? {} : { ca: await readText(caFile) }),
    ...(credentialsFile === undefined
      ? {}
      : { credentials: parseDockerConfig(await readText(credentialsFile), credentialsFile) }),
    ...(proxy ? { proxy } : {}),
  }
}

async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  return text.slice(0, MAX_FILE_BYTES)
}
