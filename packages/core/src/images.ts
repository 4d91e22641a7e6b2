import { ParseError } from './errors.ts'
import { tagForVersion } from './versions.ts'

/** A parsed OCI image reference. `registry` is a host with an optional port. */
export interface ImageReference {
  readonly registry: string
  readonly repository: string
  readonly tag?: string
  readonly digest?: string
}

const DEFAULT_REGISTRY = 'docker.io'
/** KubeEdge's grammar for `spec.image` (v1.21.2 and later): at least one `/`, a tag or a digest, not both. */
const IMAGE =
  /^(?<path>[A-Za-z0-9][A-Za-z0-9._:-]*\/[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*)(?:@(?<digest>sha256:[A-Fa-f0-9]{64})|:(?<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?$/
const MAX_IMAGE_LENGTH = 512

/**
 * Reads a reference as KubeEdge's admission accepts it. The first path part is a registry when it has a dot or a port or
 * is `localhost` (the rule of every container tool), otherwise the registry is docker.io.
 * @throws ParseError
 */
export function parseImage(text: string): ImageReference {
  const match = text.length <= MAX_IMAGE_LENGTH ? IMAGE.exec(text) : null
  const path = match?.groups?.['path']
  if (!path)
    throw new ParseError(
      'image repo',
      text,
      'write it like host:5000/team/image, with a tag or a @sha256 digest',
    )
  const slash = path.indexOf('/')
  const first = path.slice(0, slash)
  const hasHost = first.includes('.') || first.includes(':') || first === 'localhost'
  const tag = match?.groups?.['tag']
  const digest = match?.groups?.['digest']?.toLowerCase()
  return {
    registry: hasHost ? first : DEFAULT_REGISTRY,
    repository: hasHost ? path.slice(slash + 1) : path,
    ...(tag ? { tag } : {}),
    ...(digest ? { digest } : {}),
  }
}

/** The reference that an upgrade to `version` pulls: a digest wins, any tag is replaced by the version's. */
export function imageForVersion(image: string, version: string): ImageReference {
  const { tag: _, ...reference } = parseImage(image)
  return reference.digest ? reference : { ...reference, tag: tagForVersion(version) }
}

/** `registry/repository[:tag][@digest]` */
export function formatImage(image: ImageReference): string {
  const tag = image.tag ? `:${image.tag}` : ''
  const digest = image.digest ? `@${image.digest}` : ''
  return `${image.registry}/${image.repository}${tag}${digest}`
}
