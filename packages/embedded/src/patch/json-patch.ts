import { JsonPatchError } from '../errors.ts'
import { type Draft, equal, isArray, isObject, type Json, type JsonObject } from '../json.ts'

const MAX_OPERATIONS = 10_000
/** Copies can double a document with each operation; this bounds what they may add in all. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024

/** RFC 6902. Throws JsonPatchError; nothing is changed in place. */
export function applyJsonPatch(document: Json, operations: readonly Json[]): Json {
  if (operations.length > MAX_OPERATIONS) {
    throw new JsonPatchError(`The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}`)
  }
  let copied = 0
  return operations.reduce<Json>((current, operation) => {
    if (!isObject(operation)) throw new JsonPatchError('an operation is not an object')
    if (operation['op'] === 'copy') copied += JSON.stringify(read(current, pointer(operation, 'from'))).length
    if (copied > MAX_COPIED_BYTES) throw new JsonPatchError('copies add too much')
    return applyOperation(current, operation)
  }, document)
}

function applyOperation(document: Json, operation: JsonObject): Json {
  const path = pointer(operation, 'path')
  switch (operation['op']) {
    case 'add':
      return write(document, path, valueOf(operation), 'add')
    case 'replace':
      read(document, path)
      return write(document, path, valueOf(operation), 'replace')
    case 'remove':
      return write(document, path, undefined, 'remove')
    case 'copy':
      return write(document, path, read(document, pointer(operation, 'from')), 'add')
    case 'move': {
      const from = pointer(operation, 'from')
      const moved = read(document, from)
      return write(write(document, from, undefined, 'remove'), path, moved, 'add')
    }
    case 'test':
      return test(document, path, valueOf(operation))
    default:
      throw new JsonPatchError(`Unexpected kind: ${JSON.stringify(operation['op'] ?? null)}`)
  }
}

function valueOf(operation: JsonObject): Json {
  const { value } = operation
  if (value === undefined) throw new JsonPatchError('an operation has no value')
  return value
}

function pointer(operation: JsonObject, field: 'path' | 'from'): readonly string[] {
  const text = operation[field]
  if (typeof text !== 'string' || (text !== '' && !text.startsWith('/'))) {
    throw new JsonPatchError(`${field} is not a JSON pointer`)
  }
  return text
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function test(document: Json, path: readonly string[], expected: Json): Json {
  const found = find(document, path)
  if (equal(found ?? null, expected)) return document
  throw new JsonPatchError(`testing path /${path.join('/')} failed`)
}

function find(document: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, key) => {
    if (isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined
    return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }, document)
}

function read(document: Json, path: readonly string[]): Json {
  const found = find(document, path)
  if (found === undefined) throw new JsonPatchError(`/${path.join('/')} does not exist`)
  return found
}

type Action = 'add' | 'replace' | 'remove'

function write(document: Json, path: readonly string[], value: Json | undefined, action: Action): Json {
  const [key, ...rest] = path
  if (key === undefined) {
    if (value === undefined) throw new JsonPatchError('the whole document cannot be removed')
    return value
  }
  if (isArray(document)) return writeItem(document, [key, ...rest], value, action)
  if (!isObject(document)) throw new JsonPatchError(`/${key} is below what is no object`)
  const out: Draft = { ...document }
  const has = Object.hasOwn(document, key)
  if (rest.length > 0) {
    if (!has) throw new JsonPatchError(`/${key} does not exist`)
    out[key] = write(document[key] ?? null, rest, value, action)
  } else if (value !== undefined) {
    Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    if (!has) throw new JsonPatchError(`/${key} does not exist`)
    delete out[key]
  }
  return out
}

function writeItem(
  list: readonly Json[],
  [key = '', ...rest]: readonly string[],
  value: Json | undefined,
  action: Action,
): Json {
  const index = key === '-' ? list.length : /^(?:0|[1-9]\d*)$/.test(key) ? Number(key) : -1
  const last = action === 'add' && rest.length === 0 ? list.length : list.length - 1
  if (index < 0 || index > last) throw new JsonPatchError(`index ${key} is out of bounds`)
  if (rest.length > 0) return list.with(index, write(list[index] ?? null, rest, value, action))
  if (value === undefined) return list.toSpliced(index, 1)
  return action === 'replace' ? list.with(index, value) : list.toSpliced(index, 0, value)
}
