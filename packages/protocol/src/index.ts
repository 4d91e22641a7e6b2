export { EDGE_CODES, type EdgeCode } from './codes.ts'
export { type ProtocolCode, ProtocolError } from './errors.ts'
export {
  decodeFrame,
  encodeFrame,
  type Frame,
  type FrameDraft,
  type Speaker,
  UnsupportedOperation,
} from './frame.ts'
export { CLOSE, DEFAULT_PROJECT_ID, LIMITS, PORTS } from './limits.ts'
export { CAPABILITY, OPERATION, type Operation, taskResource } from './operations.ts'
export { outcomeOf, upgradeStatusOf } from './outcome.ts'
export * from './schemas.ts'
export { type Content, type ContentName, validate } from './validate.ts'
