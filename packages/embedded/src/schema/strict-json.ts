import { JsonError } from './errors.ts'
import { define } from './json.ts'
import { child, index } from './path.ts'
import type { Json } from './types.ts'

/** How deep JSON may nest: what walks it later does so by recursion. */
const MAX_DEPTH = 500
/** No more duplicates than this are told. */
const MAX_REPORTED = 100

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const TEXT = /"(?:[^"\\]|\\.)*"/y
const SPACE = /[ \t\n\r]*/y

class StrictReader {
  readonly duplicates: string[] = []
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Json {
    const value = this.#value('')
    this.#skipSpace()
    if (this.#at < this.#text.length) throw this.#unexpected('after top-level value')
    return value
  }

  #value(path: string): Json {
    this.#skipSpace()
    const char = this.#text[this.#at]
    if (char === '{' || char === '[') {
      if (++this.#depth > MAX_DEPTH) throw new JsonError('exceeded max depth')
      this.#at++
      const value = char === '{' ? this.#object(path) : this.#list(path)
      this.#depth--
      return value
    }
    const found = this.#take(char === '"' ? TEXT : LITERAL, 'looking for beginning of value')
    return JSON.parse(found) as Json
  }

  #object(path: string): Json {
    const object: Record<string, Json> = {}
    this.#sequence('}', () => {
      this.#skipSpace()
      const name = JSON.parse(this.#take(TEXT, 'looking for beginning of object key string')) as string
      this.#expect(':', 'after object key')
      const at = child(path, name)
      if (Object.hasOwn(object, name) && this.duplicates.length < MAX_REPORTED) this.duplicates.push(at)
      define(object, name, this.#value(at))
    })
    return object
  }

  #list(path: string): Json {
    const list: Json[] = []
    this.#sequence(']', () => list.push(this.#value(index(path, list.length))))
    return list
  }

  #sequence(end: string, element: () => void): void {
    this.#skipSpace()
    if (this.#text[this.#at] === end) {
      this.#at++
      return
    }
    do element()
    while (this.#separator(end) === ',')
  }

  #separator(end: string): string {
    this.#skipSpace()
    const char = this.#text[this.#at]
    if (char !== ',' && char !== end) {
      throw this.#unexpected(end === '}' ? 'after object key:value pair' : 'after array element')
    }
    this.#at++
    return char
  }

  #expect(char: string, context: string): void {
    this.#skipSpace()
    if (this.#text[this.#at] !== char) throw this.#unexpected(context)
    this.#at++
  }

  #take(pattern: RegExp, context: string): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found === undefined) throw this.#unexpected(context)
    this.#at += found.length
    return found
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0
  }

  /** In the words of Go's decoder, which is what an API server passes on. */
  #unexpected(context: string): JsonError {
    const char = this.#text[this.#at]
    if (char === undefined) return new JsonError('unexpected end of JSON input')
    return new JsonError(`invalid character ${char === "'" ? `'\\''` : `'${char}'`} ${context}`)
  }
}

/**
 * Parses JSON and tells the paths of keys that an object has twice, which `JSON.parse` does not (the last one wins).
 * Throws `JsonError` for a text that is no JSON or nests deeper than 500 levels.
 */
export function parseStrictJson(text: string): {
  readonly value: Json
  readonly duplicates: readonly string[]
} {
  const reader = new StrictReader(text)
  try {
    return { value: reader.read(), duplicates: reader.duplicates }
  } catch (thrown) {
    throw thrown instanceof SyntaxError ? new JsonError(thrown.message) : thrown
  }
}
