export {
  type AdmissionAttributes,
  compileMatchConditions,
  type ConditionProblem,
  type MatchConditions,
} from './cel/match-condition.ts'
export { compileCrd } from './compile.ts'
export { defaultCrd, validateCrd } from './crd/validate-crd.ts'
export { JsonError, SchemaError } from './errors.ts'
export { judge, type Judgement } from './judge.ts'
export { openApiName } from './openapi.ts'
export { parseStrictJson } from './strict-json.ts'
export type {
  Cause,
  CauseReason,
  CompiledSchema,
  Crd,
  CrdVersion,
  Json,
  JsonObject,
  JsonSchema,
  PrinterColumn,
} from './types.ts'
