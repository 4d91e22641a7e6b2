/** What a registry wants to see, out of its header WWW-Authenticate. */
export type Challenge =
  | { readonly kind: 'basic' }
  | { readonly kind: 'bearer'; readonly realm: string; readonly service?: string; readonly scope?: string }

const MAX_LENGTH = 4096

/** Reads the header; a bearer challenge wins over a basic one. @see RFC 9110 §11.6.1 */
export function parseChallenge(header: string | readonly string[] | undefined): Challenge | undefined {
  const all = (typeof header === 'string' ? [header] : (header ?? [])).filter(
    ({ length }) => length <= MAX_LENGTH,
  )
  const bearer = all.map(bearerIn).find((found) => found !== undefined)
  return bearer ?? (all.some((text) => /(^|,\s*)basic\b/i.test(text)) ? { kind: 'basic' } : undefined)
}

function bearerIn(text: string): Challenge | undefined {
  const at = /(?:^|,\s*)bearer\s+/i.exec(text)
  if (!at) return undefined
  const rest = text.slice(at.index + at[0].length)
  const fields = new Map(
    Array.from(rest.matchAll(/([a-z_]+)="([^"]*)"/gi), ([, name = '', value = '']) => [
      name.toLowerCase(),
      value,
    ]),
  )
  const realm = fields.get('realm')
  if (realm === undefined) return undefined
  const service = fields.get('service')
  const scope = fields.get('scope')
  return { kind: 'bearer', realm, ...(service ? { service } : {}), ...(scope ? { scope } : {}) }
}
