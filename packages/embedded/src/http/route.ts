/** A path below /api/v1 or /apis/group/version that speaks of objects. */
export interface ObjectRoute {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

const NAMESPACE_SUBRESOURCES = ['status', 'finalize']

/** Splits the path of a request; undefined when it is none of an object or a collection. */
export function parseRoute(pathname: string): ObjectRoute | undefined {
  const segments = decodeSegments(pathname)
  if (!segments) return undefined
  const [root, first = '', second = ''] = segments
  if (root === 'api' && segments.length > 2)
    return inVersion({ group: '', version: first }, segments.slice(2))
  if (root === 'apis' && segments.length > 3) {
    return inVersion({ group: first, version: second }, segments.slice(3))
  }
  return undefined
}

function decodeSegments(pathname: string): readonly string[] | undefined {
  try {
    return pathname.split('/').slice(1).map(decodeURIComponent)
  } catch {
    return undefined
  }
}

function inVersion(
  gv: { readonly group: string; readonly version: string },
  rest: readonly string[],
): ObjectRoute | undefined {
  if (rest.some((segment) => segment === '')) return undefined
  const [first = '', namespace, plural] = rest
  const inner = plural !== undefined && !(rest.length === 3 && NAMESPACE_SUBRESOURCES.includes(plural))
  if (first === 'namespaces' && namespace !== undefined && plural !== undefined && inner) {
    return withName({ ...gv, plural, namespace }, rest.slice(3))
  }
  return withName({ ...gv, plural: first }, rest.slice(1))
}

function withName(route: ObjectRoute, rest: readonly string[]): ObjectRoute | undefined {
  const [name, subresource, ...more] = rest
  if (more.length > 0) return undefined
  return {
    ...route,
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  }
}
