interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}

/** As much of a CustomResourceDefinition as the guard reads. */
export interface CrdLike {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name: string
      readonly served?: boolean
      readonly schema?: { readonly openAPIV3Schema?: Schema }
    }[]
  }
}

/** Fields without which the API server would prune what we write, for good. */
const OUR_FIELDS = [
  ['control'],
  ['spec', 'upgradeHub'],
  ['status', 'conditions'],
  ['status', 'plan'],
  ['status', 'releasing'],
  ['status', 'summary'],
]

/** True when every served version of the NodeUpgradeJob CRD keeps our fields; while it is not, no job is written at all. */
export function isOurSchema(crd: CrdLike | undefined): boolean {
  const served = crd?.spec?.versions?.filter((version) => version.served !== false) ?? []
  return (
    served.length > 0 &&
    served.every(({ schema }) => OUR_FIELDS.every((path) => has(schema?.openAPIV3Schema, path)))
  )
}

function has(schema: Schema | undefined, path: readonly string[]): boolean {
  let at = schema
  for (const key of path) at = at?.properties?.[key]
  return at !== undefined
}
