import { WireError } from '../errors.ts'

export interface WireField {
  readonly number: number
  readonly value: bigint | Buffer
}

const VARINT_MAX_BYTES = 10
const FIXED_BYTES: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

/** The fields of one message in their order. Throws WireError for what ends early or has an unknown wire type. */
export function readMessage(bytes: Buffer): readonly WireField[] {
  const fields: WireField[] = []
  let at = 0
  while (at < bytes.length) {
    const tag = readVarint(bytes, at)
    const number = Number(tag.value >> 3n)
    const read = readValue(bytes, tag.end, Number(tag.value & 7n))
    if (number > 0) fields.push({ number, value: read.value })
    at = read.end
  }
  return fields
}

function readValue(bytes: Buffer, at: number, wireType: number): { value: bigint | Buffer; end: number } {
  if (wireType === 0) return readVarint(bytes, at)
  if (wireType === 2) {
    const length = readVarint(bytes, at)
    return slice(bytes, length.end, Number(length.value))
  }
  const fixed = FIXED_BYTES[wireType]
  if (fixed === undefined) throw new WireError(`unknown wire type ${wireType}`)
  return slice(bytes, at, fixed)
}

function slice(bytes: Buffer, start: number, length: number): { value: Buffer; end: number } {
  const end = start + length
  if (end > bytes.length) throw new WireError('unexpected end of the message')
  return { value: bytes.subarray(start, end), end }
}

function readVarint(bytes: Buffer, start: number): { value: bigint; end: number } {
  let value = 0n
  for (let i = 0; i < VARINT_MAX_BYTES; i++) {
    const byte = bytes[start + i]
    if (byte === undefined) throw new WireError('unexpected end of the message')
    value |= BigInt(byte & 0x7f) << BigInt(7 * i)
    if (byte < 0x80) return { value, end: start + i + 1 }
  }
  throw new WireError('a number is too long')
}
