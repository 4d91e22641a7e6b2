import type { Recorded } from './recorder.ts'

const UID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
/** A whole object that a message quotes, with versions and times in it. */
const QUOTED_OBJECT = /"\{\\"apiVersion\\".*\}"/g
/** Versions of the store that messages tell of. */
const TOLD_VERSION =
  /(ResourceVersion in the precondition \(|ResourceVersion in record \(|current: |too old resource version: \d+ \()\d+/g
const PORT = /(127\.0\.0\.1:)\d+/g
const TIME_FIELDS: ReadonlySet<string> = new Set([
  'creationTimestamp',
  'deletionTimestamp',
  'time',
  'lastTransitionTime',
])
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Gives equal things equal names in the order in which they first appear: `<uid 1>`, `<uid 2>`. */
class Names {
  readonly #kind: string
  readonly #known = new Map<string, string>()

  constructor(kind: string) {
    this.#kind = kind
  }

  of(value: string): string {
    const name = this.#known.get(value) ?? `<${this.#kind} ${this.#known.size + 1}>`
    this.#known.set(value, name)
    return name
  }
}

type Fields = Readonly<Record<string, unknown>>

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Takes out of the answers of one plane what must differ: uids and resource versions keep only which are equal, times
 * only that they are times, lists and bookmarks no version at all (the whole store moves it), and the order in which
 * several problems are told, which the real API server leaves to chance.
 */
export class Normaliser {
  readonly #uids = new Names('uid')
  readonly #versions = new Names('rv')

  answer({ label, status, warning, body }: Recorded): Recorded {
    return { label, status, warning: this.#text(warning), body: sorted(this.#value(body, [])) as unknown }
  }

  #value(value: unknown, path: readonly string[]): unknown {
    if (typeof value === 'string') return this.#named(value, path)
    if (Array.isArray(value)) return this.#list(value, path)
    if (!isFields(value)) return value
    const list = Array.isArray(value.items) || /(List|^Table)$/.test(String(value.kind))
    const entries = Object.entries(value).map(([key, item]) => {
      const next = list && key === 'metadata' ? ['list', key] : [...path, key]
      return [this.#text(key), this.#value(item, next)] as const
    })
    return problems(Object.fromEntries(entries))
  }

  /** Entries of managedFields are in the order of their times, to the second: which second is chance. */
  #list(items: readonly unknown[], path: readonly string[]): unknown[] {
    const list = items.map((item) => this.#value(item, path))
    if (path.at(-1) !== 'managedFields') return list
    return list.toSorted((a, b) => (JSON.stringify(sorted(a)) < JSON.stringify(sorted(b)) ? -1 : 1))
  }

  #named(text: string, path: readonly string[]): string {
    const field = path.at(-1) ?? ''
    if (field === 'resourceVersion') return path.at(-3) === 'list' ? '<list rv>' : this.#versions.of(text)
    if (field === 'continue' && text !== '') return '<continue>'
    if (TIME_FIELDS.has(field) && TIME.test(text)) return '<time>'
    return this.#text(text)
  }

  #text(text: string): string {
    const plain = text.replace(QUOTED_OBJECT, '"<object>"').replace(UID, (uid) => this.#uids.of(uid))
    return plain.replace(TOLD_VERSION, (_, before: string) => `${before}<rv>`).replace(PORT, '$1<port>')
  }
}

/** A Status with several causes, in an order of its own. */
function problems(object: Fields): Fields {
  const { kind, message, details } = object
  if (kind !== 'Status' || !isFields(details) || !Array.isArray(details.causes)) return object
  const causes = (details.causes as unknown[]).toSorted((a, b) =>
    JSON.stringify(a) < JSON.stringify(b) ? -1 : 1,
  )
  const words = typeof message === 'string' ? message.split(/, |\[|\]/).toSorted() : message
  return { ...object, message: words, details: { ...details, causes } }
}

/** Keys in order, so that a difference is shown where it is. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isFields(value)) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]))
}
