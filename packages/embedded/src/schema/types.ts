/** One problem of an object, as a `StatusCause` of a Kubernetes `Status` carries it. */
export interface Cause {
  readonly reason: CauseReason
  /** What kubectl prints after the field: `Invalid value: "x": …`. */
  readonly message: string
  /** `spec.foo[0].bar`, map keys as `spec.digests[linux/amd64]`. */
  readonly field: string
}

/** The reasons of `metav1.CauseType` that an API server gives for the fields of an object. */
export type CauseReason =
  | 'FieldValueInvalid'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [key: string]: Json }

/** A rule of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: CauseReason
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/** `apiextensions.k8s.io/v1` JSONSchemaProps, as far as a structural schema may use it. */
export interface JsonSchema {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly title?: string
  readonly default?: Json
  readonly nullable?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly items?: JsonSchema
  readonly required?: readonly string[]
  readonly enum?: readonly Json[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly allOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly not?: JsonSchema
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'granular' | 'atomic'
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** One entry of `spec.versions` of a CustomResourceDefinition. */
export interface CrdVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema }
  readonly subresources?: { readonly status?: object; readonly scale?: object }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

export interface PrinterColumn {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath: string
}

export interface CrdNames {
  readonly plural: string
  readonly singular?: string
  readonly kind: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** `apiextensions.k8s.io/v1` CustomResourceDefinition. */
export interface Crd {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly [key: string]: unknown }
  readonly spec: {
    readonly group: string
    readonly scope: string
    readonly names: CrdNames
    readonly versions: readonly CrdVersion[]
    readonly conversion?: { readonly strategy: string; readonly webhook?: unknown }
    readonly preserveUnknownFields?: boolean
  }
  readonly status?: unknown
}

/** What one version of a CRD does to its objects. Pure: nothing is changed in place. */
export interface CompiledSchema {
  /** Drops what the schema does not know; `unknown` are the dropped paths, for strict and warn field validation. */
  prune(object: JsonObject): { readonly object: JsonObject; readonly unknown: readonly string[] }
  /** Fills absent fields, and drops or fills nulls of fields that are not nullable. */
  applyDefaults(object: JsonObject): JsonObject
  /**
   * Every problem of an object that is already pruned and defaulted, with CEL. With `old` also transition rules run and
   * what has not changed is tolerated (ratcheting). With `status` only the status is held against the schema.
   * `before` are the causes found in the metadata, which are not told again but can keep rules from running.
   */
  validate(
    object: JsonObject,
    old?: JsonObject,
    subresource?: 'status',
    before?: readonly Cause[],
  ): readonly Cause[]
  /** The schema of the version as OpenAPI v3 publishes it, with `x-kubernetes-group-version-kind`. */
  openApi(): JsonObject
  /** The schema of the list kind. */
  openApiList(): JsonObject
  /** The values of `selectableFields` of an object by path without the leading dot, absent ones as `''`. */
  selectable(object: JsonObject): Readonly<Record<string, string>>
}
