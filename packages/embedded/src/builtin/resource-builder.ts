import type { JsonObject } from '../json.ts'
import { subdomain } from '../names.ts'
import { apiVersionOf, type KubeObject } from '../objects.ts'
import type { Resource, Strategy, Verb } from '../registry/resource.ts'
import { builtinColumns } from '../table/builtin-columns.ts'
import { decodeTyped } from './decode.ts'
import { kindSchema } from './definitions.ts'

export const ALL_VERBS: readonly Verb[] = [
  ...(['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const),
]

/** What differs from kind to kind; the rest follows from the definition. */
export interface BuiltinSpec
  extends Partial<Omit<Resource, 'strategy' | 'schema' | 'decode' | 'columns' | 'custom'>> {
  readonly group: string
  readonly plural: string
  readonly kind: string
  /** Full name of the definition. */
  readonly definition: string
  readonly strategy?: Partial<Strategy>
  /** Fills what a client left out; runs on every object that is read from a request. */
  readonly defaults?: (object: KubeObject) => KubeObject
  /** Adds the fields that are on the wire even when nothing was set. */
  readonly zeros?: (object: KubeObject) => KubeObject
}

const PLAIN: Strategy = {
  nameRule: subdomain,
  generation: false,
  unconditionalUpdate: true,
  returnsDeleted: false,
}

const same = (object: KubeObject): KubeObject => object

/** A built-in resource of one version. */
export function builtin(spec: BuiltinSpec): Resource {
  const version = spec.version ?? 'v1'
  const schema = kindSchema(spec.definition)
  const { plural, kind, defaults = same, zeros = same } = spec
  const storage = spec.storage ?? (spec.group ? `${spec.group}/${plural}` : plural)
  return {
    version,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    namespaced: false,
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    subresources: [],
    complete: same,
    toStorage: same,
    fromStorage: same,
    fields: [],
    fieldsOf: () => ({}),
    ...spec,
    storage,
    custom: false,
    schema,
    blank: zeros(typed({ spec: {}, status: {}, ...spec.blank }, spec.group, version, kind)),
    strategy: { ...PLAIN, ...spec.strategy },
    columns: builtinColumns(storage),
    decode: (json) => {
      const { object, unknown } = decodeTyped(json, schema)
      return { object: zeros(defaults(typed(object, spec.group, version, kind))), unknown }
    },
  }
}

function typed(object: JsonObject, group: string, version: string, kind: string): KubeObject {
  const { metadata = {}, ...rest } = object
  return { ...rest, kind, apiVersion: apiVersionOf(group, version), metadata } as unknown as KubeObject
}
