import { messageOf } from '@upgrade-hub/core'
import { compileRules, type RuleTree } from './cel/rule-tree.ts'
import { applyDefaults } from './defaults.ts'
import { SchemaError } from './errors.ts'
import { openApiKind, openApiList } from './openapi.ts'
import { prune } from './prune.ts'
import { selectableReader } from './selectable.ts'
import type { CompiledSchema, Crd, JsonSchema } from './types.ts'
import { validateObject } from './validate.ts'

/** A version without a schema is only possible in CRDs of long ago; nothing of it is pruned. */
const NO_SCHEMA: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function rulesOf(schema: JsonSchema): RuleTree | undefined {
  try {
    return compileRules(schema)
  } catch (thrown) {
    throw new SchemaError(
      'SCHEMA_BAD_RULE',
      `a validation rule does not compile: ${messageOf(thrown)}`,
      thrown,
    )
  }
}

/**
 * Compiles one version of a CRD that `validateCrd` accepts. Throws `SchemaError` for a version that it does not have
 * and for a rule that does not parse.
 */
export function compileCrd(crd: Crd, versionName: string): CompiledSchema {
  const version = crd.spec.versions.find((v) => v.name === versionName)
  if (version === undefined) {
    throw new SchemaError('SCHEMA_NO_VERSION', `${crd.metadata.name} has no version ${versionName}`)
  }
  const schema = version.schema?.openAPIV3Schema ?? NO_SCHEMA
  const rules = rulesOf(schema)
  return {
    prune: (object) => prune(object, schema),
    applyDefaults: (object) => applyDefaults(object, schema),
    validate: (object, old, subresource, before = []) =>
      validateObject({ schema, rules }, object, old && { old, statusOnly: subresource === 'status' }, before),
    openApi: () => openApiKind(crd, version),
    openApiList: () => openApiList(crd, version),
    selectable: selectableReader(version),
  }
}
