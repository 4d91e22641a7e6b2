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
