const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/**
 * The name of a field in CEL (k8s.io/apiserver/pkg/cel/escaping.go): keywords and `- . / __` are escaped. Undefined
 * for a name that no expression can reach.
 */
export function escapeName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  if (!/^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/.test(name)) return undefined
  return name.replace(/__|[.\-/]/g, (found) => ESCAPES[found] ?? found)
}
