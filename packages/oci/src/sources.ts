import type { ImageReference } from '@upgrade-hub/core'
import { OciError } from './errors.ts'
import type { RegistrySettings } from './settings.ts'

/** Somebody who may have a repository: its registry, or a mirror of that. */
export interface Source {
  /** As the operator or the job writes it: `docker.io`, `mirror.example:5000`. */
  readonly host: string
  /** `{scheme}://{host}/v2/{repository}/` */
  readonly base: URL
}

/** docker.io is a name, not a host; its API lives elsewhere. */
const API_HOSTS: ReadonlyMap<string, string> = new Map([['docker.io', 'registry-1.docker.io']])

/** Who is asked for a repository, in order. @throws OciError OCI_NOT_ALLOWED for a registry that may not be asked */
export function sourcesOf(
  { registry, repository }: Pick<ImageReference, 'registry' | 'repository'>,
  settings: RegistrySettings,
): Source[] {
  const { allow, plainHttp, mirrors } = settings
  if (allow.length > 0 && !allow.includes(registry))
    throw new OciError('OCI_NOT_ALLOWED', `the registry ${registry} is not allowed on this node`)
  const hosts = Object.entries(mirrors ?? {}).find(([host]) => host === registry)?.[1] ?? [registry]
  return hosts.map((host) => {
    const scheme = plainHttp.includes(host) ? 'http' : 'https'
    const path = repositoryPath(registry, repository)
    return { host, base: new URL(`${scheme}://${API_HOSTS.get(host) ?? host}/v2/${path}/`) }
  })
}

/**
 * True for a host and port that the operator has named: it may be at a private address, which others may not.
 * @see S43 of the tests: a job must not be able to make a node ask its own network
 */
export function isNamed(host: string, { allow, plainHttp, mirrors }: RegistrySettings): boolean {
  return (
    allow.includes(host) ||
    plainHttp.includes(host) ||
    Object.values(mirrors ?? {})
      .flat()
      .includes(host)
  )
}

/** docker.io keeps its own images in `library/`. */
function repositoryPath(registry: string, repository: string): string {
  return registry === 'docker.io' && !repository.includes('/') ? `library/${repository}` : repository
}
