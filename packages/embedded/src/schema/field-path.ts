import { own } from './json.ts'
import { child, key } from './path.ts'
import { extraSchema } from './prune.ts'
import type { JsonSchema } from './types.ts'

/** A path of an expression or a selectable field, resolved in its schema. */
export interface FieldPath {
  /** As it is written in causes. */
  readonly path: string
  readonly names: readonly string[]
  readonly schema: JsonSchema
}

const SEGMENT = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])/
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter)
}

function step(at: FieldPath, name: string): FieldPath | undefined {
  const names = [...at.names, name]
  if (at.schema.properties !== undefined) {
    const schema = own(at.schema.properties, name)
    return schema && { path: child(at.path, name), names, schema }
  }
  const schema = extraSchema(at.schema)
  return schema && { path: key(at.path, name), names, schema }
}

/**
 * Resolves a path such as `.spec.image` or `.metadata['a.b']` in a schema; undefined for one that is malformed or leads
 * to no field (k8s.io/apiextensions-apiserver ValidFieldPath).
 */
export function resolveFieldPath(text: string, schema: JsonSchema): FieldPath | undefined {
  let at: FieldPath | undefined = { path: '', names: [], schema }
  let rest = text
  while (rest !== '' && at !== undefined) {
    const [whole, plain, quoted] = SEGMENT.exec(rest) ?? []
    if (whole === undefined) return undefined
    at = step(at, plain ?? unescape(quoted ?? ''))
    rest = rest.slice(whole.length)
  }
  return at
}
