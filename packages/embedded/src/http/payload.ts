import { HubError, messageOf } from '@upgrade-hub/core'
import { parse as parseYaml } from 'yaml'
import { decodeProtobuf } from '../builtin/protobuf.ts'
import { badRequest, unsupportedMediaType } from '../errors.ts'
import type { Json } from '../json.ts'
import { parseStrictJson } from '../schema/index.ts'

const JSON_TYPE = 'application/json'
const YAML_TYPE = 'application/yaml'
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf'
const MAX_YAML_ALIASES = 100
const SHOWN_CHARACTERS = 200

/** What a body should be: the kind, and the definition of it that protobuf needs ('' where there is none). */
export interface Expected {
  readonly kind: string
  readonly definition: string
}

export interface Payload {
  readonly value: Json
  /** Paths of keys that an object has twice; the last value counts. */
  readonly duplicates: readonly string[]
  /** The body, or its start, for messages. */
  readonly shown: string
}

/** The media type of a body without parameters, '' when it is not said. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** Reads an object from JSON, YAML or, for a built-in kind, protobuf. Throws 400 and 415. */
export function parsePayload(body: Buffer, contentType: string | undefined, expected: Expected): Payload {
  const type = mediaType(contentType) || JSON_TYPE
  const accepted = [JSON_TYPE, YAML_TYPE, ...(expected.definition ? [PROTOBUF_TYPE] : [])]
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted)
  const shown = type === PROTOBUF_TYPE ? '' : body.toString('utf8', 0, SHOWN_CHARACTERS)
  try {
    return { ...parse(body, type, expected), shown }
  } catch (error) {
    const why = body.length === 0 ? 'unexpected end of JSON input' : messageOf(error)
    if (error instanceof HubError || error instanceof Error)
      throw unrecognized(expected.kind, shown || '<empty>', why)
    throw error
  }
}

function parse(body: Buffer, type: string, { definition }: Expected): Omit<Payload, 'shown'> {
  if (type === PROTOBUF_TYPE) return { value: decodeProtobuf(body, definition), duplicates: [] }
  const text = body.toString('utf8')
  if (type === JSON_TYPE) return parseStrictJson(text)
  return { value: parseYaml(text, { maxAliasCount: MAX_YAML_ALIASES }) as Json, duplicates: [] }
}

const EXCERPT_CHARACTERS = 30

/** The start of a body, as messages show it. */
export function excerpt(text: string): string {
  return text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)} ...` : text
}

export function unrecognized(kind: string, shown: string, why: string) {
  if (kind === 'DeleteOptions') return badRequest(`couldn't get version/kind; json parse error: ${why}`)
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${why} (${excerpt(shown)})`,
  )
}
