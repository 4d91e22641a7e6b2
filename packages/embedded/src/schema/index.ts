export {
  type AdmissionAttributes,
  type ConditionProblem,
  compileMatchConditions,
  type MatchConditions,
} from './cel/match-condition.ts'
export { compileCrd } from './compile.ts'
export { defaultCrd, validateCrd } from './crd/validate-crd.ts'
export { JsonError, SchemaError } from './errors.ts'
export { type Judgement, judge } from './judge.ts'
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
