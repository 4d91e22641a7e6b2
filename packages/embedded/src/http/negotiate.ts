import { StatusError } from '../errors.ts'

/** How the answer is to be shaped. */
export type Shape = 'object' | 'table' | 'metadata'

export interface Accepted {
  readonly shape: Shape
  readonly version: string
  readonly yaml: boolean
}

interface MediaRange {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
}

const MAX_HEADER = 4096

/** The media ranges of an Accept header in the order in which they are wanted. */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  const text = (header ?? '').slice(0, MAX_HEADER) || '*/*'
  return text.split(',').map((range) => {
    const [type = '', ...rest] = range.split(';').map((part) => part.trim())
    const pairs = rest.map((pair) => pair.split('=').map((side) => side.trim()))
    return {
      type: type.toLowerCase(),
      parameters: new Map(pairs.map(([key = '', value = '']) => [key, value])),
    }
  })
}

const SHAPES: Readonly<Record<string, Shape>> = {
  Table: 'table',
  PartialObjectMetadata: 'metadata',
  PartialObjectMetadataList: 'metadata',
}

const CUSTOM_ONLY =
  'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf'
const AVAILABLE = 'application/json, application/yaml, application/json;stream=watch'

/** Picks the first wanted representation that can be given. Throws 406 when there is none. */
export function negotiate(header: string | undefined, custom = false): Accepted {
  for (const { type, parameters } of parseAccept(header)) {
    const as = parameters.get('as')
    const yaml = type === 'application/yaml'
    if (!yaml && !['application/json', 'application/*', '*/*'].includes(type)) continue
    if (as === undefined) return { shape: 'object', version: '', yaml }
    const shape = SHAPES[as]
    const version = parameters.get('v') ?? 'v1'
    if (!shape || parameters.get('g') !== 'meta.k8s.io') continue
    if (version === 'v1' || (version === 'v1beta1' && shape === 'table')) return { shape, version, yaml }
  }
  if (custom) throw new StatusError(406, 'NotAcceptable', CUSTOM_ONLY)
  const message = `406: Not Acceptable

Available representations: ${AVAILABLE}`
  throw new StatusError(406, 'NotAcceptable', message, {})
}
