/** Names whose values never reach a log, compared without case, dashes and underscores. */
const SECRET_NAMES = new Set([
  'authorization',
  'cookie',
  'key',
  'keypem',
  'pem',
  'password',
  'privatekey',
  'secret',
  'token',
  'bearer',
])
const SECRET_TEXT =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)|\bBearer\s+\S+|(?<=:\/\/)[^\s/@]+:[^\s/@]*(?=@)|\b(?:[a-f0-9]{64}\.)?eyJ[\w-]*\.[\w-]+\.[\w-]+/g
const MAX_DEPTH = 6
const MAX_ITEMS = 100
const MAX_TEXT = 4096

const REDACTED = '[redacted]'

/** The text without private keys, bearer credentials and tokens, cut to 4096 characters. */
export function redactText(text: string): string {
  return text.slice(0, MAX_TEXT).replace(SECRET_TEXT, REDACTED)
}

/**
 * A copy of what is to be logged that holds no secret and cannot grow without bound: values under secret names and
 * secrets inside text are replaced, depth ends at 6, lists and objects at 100 entries, bytes become their length.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return `[${value.length} bytes]`
  if (depth >= MAX_DEPTH) return '[deep]'
  if (value instanceof Error) return redactError(value, depth)
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redact(item, depth + 1))
  return redactFields(value, depth)
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const entries = Object.entries(fields).slice(0, MAX_ITEMS)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isSecretName(name) ? REDACTED : redact(value, depth + 1)]),
  )
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  return {
    type: error.name,
    message: redactText(error.message),
    ...('code' in error ? { code: redact(error.code, depth + 1) } : {}),
    ...(error.stack ? { stack: redactText(error.stack) } : {}),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  }
}

function isSecretName(name: string): boolean {
  const bare = name.toLowerCase().replace(/[-_]/g, '')
  return SECRET_NAMES.has(bare) || /(token|password|secret|privatekey|keypem)$/.test(bare)
}
