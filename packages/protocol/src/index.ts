export { EDGE_CODES, type EdgeCode } from './codes.ts'
export { CLOSE, DEFAULT_PROJECT_ID, LIMITS, PORTS } from './limits.ts'
export { OPERATION, type Operation, taskResource } from './operations.ts'
export * from './schemas.ts'
