import { decodeTyped } from '../builtin/decode.ts'
import { metaSchema } from '../builtin/definitions.ts'
import { ALL_VERBS } from '../builtin/resource-builder.ts'
import { isObject, type JsonObject, objectAt } from '../json.ts'
import { subdomain } from '../names.ts'
import { apiVersionOf, type KubeObject, withType } from '../objects.ts'
import type { Decoded, Resource } from '../registry/resource.ts'
import { type CompiledSchema, type Crd, type CrdVersion, compileCrd } from '../schema/index.ts'
import { customColumns } from '../table/custom-columns.ts'

/** One served version of a CRD, with its compiled schema. */
export interface CustomResource extends Resource {
  readonly compiled: CompiledSchema
}

/** The resources of a CRD, one for each served version. Throws SchemaError when a schema does not compile. */
export function customResources(crd: Crd): readonly CustomResource[] {
  const stored = crd.spec.versions.find((version) => version.storage)?.name ?? ''
  return crd.spec.versions
    .filter((version) => version.served)
    .map((version) => customResource(crd, version, stored))
}

/** Reads a stored object as the storage version shows it now: pruned and with defaults, as after a new schema. */
export function storedReader(crd: Crd): (object: KubeObject) => KubeObject {
  const stored = crd.spec.versions.find((version) => version.storage)?.name ?? ''
  const schema = compileCrd(crd, stored)
  return (object) => schema.applyDefaults(schema.prune(object).object) as KubeObject
}

function customResource(crd: Crd, version: CrdVersion, stored: string): CustomResource {
  const { group, names, scope } = crd.spec
  const compiled = compileCrd(crd, version.name)
  const apiVersion = apiVersionOf(group, version.name)
  const asVersion = (to: string) => (object: KubeObject) =>
    object.apiVersion === to ? object : withType(object, to, object.kind)
  const toStored = asVersion(apiVersionOf(group, stored))
  const asStored = version.name === stored ? (object: KubeObject) => object : storedReader(crd)
  const fields = (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, ''))
  return {
    group,
    version: version.name,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    namespaced: scope === 'Namespaced',
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: ALL_VERBS,
    subresources: version.subresources?.status ? ['status'] : [],
    storage: `${group}/${names.plural}`,
    custom: true,
    definition: '',
    blank: { metadata: {} },
    schema: withMetaSchema((version.schema?.openAPIV3Schema ?? {}) as JsonObject),
    compiled,
    columns: customColumns(version.additionalPrinterColumns),
    ...deprecation(version, apiVersion, names.kind),
    fields,
    fieldsOf: (object) => compiled.selectable(object),
    complete: (object) => compiled.applyDefaults(object) as KubeObject,
    toStorage: (object) => asStored(toStored(object)),
    fromStorage: asVersion(apiVersion),
    decode: (json) => decodeCustom(json, compiled),
    strategy: {
      nameRule: subdomain,
      generation: true,
      unconditionalUpdate: false,
      returnsDeleted: false,
      validate: (object, old, subresource) =>
        compiled.validate(object, old, subresource === 'status' ? 'status' : undefined),
    },
  }
}

/** Ownership of metadata follows the schema of ObjectMeta, which a CRD does not repeat. */
function withMetaSchema(schema: JsonObject): JsonObject {
  return { ...schema, properties: { ...objectAt(schema, 'properties'), metadata: metaSchema('ObjectMeta') } }
}

function deprecation(version: CrdVersion, apiVersion: string, kind: string): { deprecation?: string } {
  if (!version.deprecated) return {}
  return { deprecation: version.deprecationWarning ?? `${apiVersion} ${kind} is deprecated` }
}

function decodeCustom(json: JsonObject, schema: CompiledSchema): Decoded {
  const { metadata, ...rest } = json
  const meta = decodeTyped(isObject(metadata) ? metadata : {}, metaSchema('ObjectMeta'))
  const pruned = schema.prune(rest)
  const object = schema.applyDefaults({ ...pruned.object, metadata: meta.object })
  return {
    object: object as KubeObject,
    unknown: [...meta.unknown.map((path) => `metadata.${path}`), ...pruned.unknown],
  }
}
