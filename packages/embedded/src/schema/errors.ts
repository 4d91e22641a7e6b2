import { HubError } from '@upgrade-hub/core'

/** A CRD that cannot be compiled, although it should have been validated before. */
export class SchemaError extends HubError {
  constructor(code: 'SCHEMA_NO_VERSION' | 'SCHEMA_BAD_RULE', message: string, cause?: unknown) {
    super(code, message, { cause })
  }
}

/** A JSON text that is none. */
export class JsonError extends HubError {
  constructor(message: string) {
    super('JSON_INVALID', message)
  }
}

/** An expression that did not come to a value; the message is what an API server says of it. */
export class CelError extends HubError {
  constructor(message: string) {
    super('CEL_FAILED', message)
  }
}
