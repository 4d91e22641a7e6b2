import { readFileSync } from 'node:fs'

type WireFields = Readonly<Record<string, Readonly<Record<string, string>>>>

let loaded: WireFields | undefined

/** The fields of a Go struct by their protobuf number, as generate-wire.ts reads them; undefined for other names. */
export function wireFields(definition: string): Readonly<Record<string, string>> | undefined {
  loaded ??= JSON.parse(readFileSync(new URL('wire-fields.json', import.meta.url), 'utf8')) as WireFields
  return loaded[definition]
}

/** The full name of a struct that stands in the package of another. */
export function siblingStruct(definition: string, struct: string): string {
  return definition.slice(0, definition.lastIndexOf('.') + 1) + struct
}

const pointers = new Map<string, ReadonlySet<string>>()

/** The fields of a struct that are pointers in Go, for which a zero is a value; all others leave a zero out. */
export function pointerFields(definition: string): ReadonlySet<string> {
  const known = pointers.get(definition)
  if (known) return known
  const found = Object.values(wireFields(definition) ?? {}).flatMap((field) => {
    if (field.startsWith('<')) return [...pointerFields(siblingStruct(definition, field.slice(1)))]
    return field.startsWith('*') ? [field.slice(1)] : []
  })
  const set = new Set(found)
  pointers.set(definition, set)
  return set
}
