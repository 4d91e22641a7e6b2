import { mapEntries } from './json.ts'
import type { Crd, CrdVersion, Json, JsonObject, JsonSchema } from './types.ts'

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md'

const TYPE_META: JsonObject = {
  apiVersion: {
    description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`,
    type: 'string',
  },
  kind: {
    description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
    type: 'string',
  },
}

/** The same of an embedded resource, in words of its own. */
const EMBEDDED_TYPE_META: JsonObject = {
  apiVersion: {
    description: `apiVersion defines the versioned schema of this representation of an object. More info: ${CONVENTIONS}#resources`,
    type: 'string',
  },
  kind: {
    description: `kind is a string value representing the type of this object. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
    type: 'string',
  },
}

function metaRef(kind: 'ObjectMeta' | 'ListMeta'): JsonObject {
  const description =
    kind === 'ObjectMeta'
      ? `Standard object's metadata. More info: ${CONVENTIONS}#metadata`
      : `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`
  return {
    description,
    allOf: [{ $ref: `#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.${kind}` }],
  }
}

const INT_OR_STRING: Json = [{ type: 'integer' }, { type: 'string' }]

/** The parts that only an API server adds: the fields of embedded resources and the union of int-or-string. */
function published(schema: JsonObject): JsonObject {
  const nested = mapEntries(schema, (value, name) => publishedPart(name, value))
  const union =
    schema['x-kubernetes-int-or-string'] === true && schema.anyOf === undefined
      ? { anyOf: INT_OR_STRING }
      : {}
  if (schema['x-kubernetes-embedded-resource'] !== true) return { ...nested, ...union }
  const required = new Set([...((schema.required ?? []) as readonly string[]), 'kind', 'apiVersion'])
  const properties = {
    ...(nested.properties as JsonObject | undefined),
    ...EMBEDDED_TYPE_META,
    metadata: metaRef('ObjectMeta'),
  }
  return { ...nested, properties, required: [...required] }
}

function publishedPart(name: string, value: Json): Json {
  if (name === 'properties')
    return mapEntries(value as JsonObject, (property) => published(property as JsonObject))
  const isSchema = (name === 'items' || name === 'additionalProperties') && typeof value === 'object'
  return isSchema ? published(value as JsonObject) : value
}

function extensions(crd: Crd, version: CrdVersion, kind: string): JsonObject {
  const fields = version.selectableFields ?? []
  return {
    'x-kubernetes-group-version-kind': [{ group: crd.spec.group, version: version.name, kind }],
    ...(fields.length > 0 && {
      'x-kubernetes-selectable-fields': fields.map(({ jsonPath }) => ({
        fieldPath: jsonPath.replace(/^\./, ''),
      })),
    }),
  }
}

/** The name under which a kind of a CRD stands among the schemas: the group from right to left, version and kind. */
export function openApiName(crd: Crd, version: string, kind: string): string {
  return [...crd.spec.group.split('.').reverse(), version, kind].join('.')
}

/** What `kubectl explain` and client-side validation read of a kind: the schema as OpenAPI v3 publishes it. */
export function openApiKind(crd: Crd, version: CrdVersion): JsonObject {
  const schema: JsonSchema = version.schema?.openAPIV3Schema ?? { type: 'object' }
  const body = published(schema as unknown as JsonObject)
  const properties = {
    ...(body.properties as JsonObject | undefined),
    ...TYPE_META,
    metadata: metaRef('ObjectMeta'),
  }
  return { ...body, properties, ...extensions(crd, version, crd.spec.names.kind) }
}

/** The schema of the list of a kind. */
export function openApiList(crd: Crd, version: CrdVersion): JsonObject {
  const { kind, plural, listKind = `${kind}List` } = crd.spec.names
  return {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...TYPE_META,
      items: {
        description: `List of ${plural}. More info: ${CONVENTIONS}`,
        type: 'array',
        items: { $ref: `#/components/schemas/${openApiName(crd, version.name, kind)}` },
      },
      metadata: metaRef('ListMeta'),
    },
    ...extensions(crd, version, listKind),
  }
}
