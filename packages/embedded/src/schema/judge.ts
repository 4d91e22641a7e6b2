import { compileCrd } from './compile.ts'
import type { Cause, CompiledSchema, Crd, JsonObject } from './types.ts'

/** What is judged: an object as a client sent it, and the stored one on an update. */
export interface Judgement {
  readonly crd: Crd
  readonly version: string
  readonly object: JsonObject
  readonly oldObject?: JsonObject | undefined
}

/** A CRD changes rarely and its compilation takes milliseconds: once per object identity is enough. */
const compiled = new WeakMap<Crd, Map<string, CompiledSchema>>()

function schemaOf(crd: Crd, version: string): CompiledSchema {
  const versions = compiled.get(crd) ?? new Map<string, CompiledSchema>()
  compiled.set(crd, versions)
  const schema = versions.get(version) ?? compileCrd(crd, version)
  versions.set(version, schema)
  return schema
}

/**
 * The verdict that the API server itself would give: prune, default, validate. Empty means accepted. Throws
 * `SchemaError` for a version that the CRD does not have.
 */
export function judge({ crd, version, object, oldObject }: Judgement): readonly Cause[] {
  const schema = schemaOf(crd, version)
  const ready = (raw: JsonObject) => schema.applyDefaults(schema.prune(raw).object)
  return schema.validate(ready(object), oldObject && ready(oldObject))
}
