import { randomUUID } from 'node:crypto'
import { KubeError, type KubeObject, type ListPage, type Resource } from '@upgrade-hub/kube'
import type { KubeApi } from '../kube-api.ts'

type Json = Record<string, unknown>
type Verb = 'get' | 'list' | 'create' | 'patch' | 'replace' | 'delete'

/** A call as a test sees it. */
export interface FakeCall {
  readonly verb: Verb
  readonly plural: string
  readonly name: string
  readonly body?: unknown
}

/**
 * An API server in memory for component tests: resourceVersion preconditions, merge patches, uids. `before` may throw in
 * place of a call, `after` once it has happened (an answer that was lost), `check` is the schema.
 */
export class FakeKube implements KubeApi {
  readonly calls: FakeCall[] = []
  now = Date.parse('2026-01-01T00:00:00Z')
  before: (call: FakeCall) => void | Promise<void> = () => undefined
  after: (call: FakeCall) => void = () => undefined
  check: (object: Json, old: Json | undefined) => void = () => undefined
  readonly #objects = new Map<string, Json>()
  readonly #listeners = new Set<(key: string) => void>()
  #version = 0

  async get<T>(of: Resource<T>, name: string): Promise<T> {
    await this.#enter({ verb: 'get', plural: of.plural, name })
    return structuredClone(this.#stored(of, name)) as T
  }

  async list<T>(
    of: Resource<T>,
    options: { fieldSelector?: string; labelSelector?: string } = {},
  ): Promise<ListPage<T>> {
    await this.#enter({ verb: 'list', plural: of.plural, name: '' })
    const items = this.all(of).filter((item) => matches(item as Json, options.fieldSelector))
    return { metadata: { resourceVersion: String(this.#version) }, items }
  }

  async create<T>(of: Resource<T>, object: T): Promise<T> {
    const { name } = (object as KubeObject).metadata
    const call = await this.#enter({ verb: 'create', plural: of.plural, name, body: object })
    if (this.#objects.has(keyOf(of, name))) throw failure('KUBE_ALREADY_EXISTS', 409)
    const created = this.put(of, object)
    this.after(call)
    return created
  }

  async patch<T>(of: Resource<T>, name: string, body: unknown, _options: object = {}): Promise<T> {
    const call = await this.#enter({ verb: 'patch', plural: of.plural, name, body })
    const old = this.#stored(of, name)
    const expected = (body as Partial<KubeObject>).metadata?.resourceVersion
    if (expected !== undefined && expected !== metadataOf(old).resourceVersion)
      throw failure('KUBE_CONFLICT', 409)
    const next = merge(old, body) as Json
    this.check(next, old)
    const patched = this.put(of, next as T)
    this.after(call)
    return patched
  }

  async replace<T extends KubeObject>(of: Resource<T>, object: T): Promise<T> {
    const { name, resourceVersion } = object.metadata
    const call = await this.#enter({ verb: 'replace', plural: of.plural, name, body: object })
    const old = this.#stored(of, name)
    if (resourceVersion !== undefined && resourceVersion !== metadataOf(old).resourceVersion) {
      throw failure('KUBE_CONFLICT', 409)
    }
    const replaced = this.put(of, object)
    this.after(call)
    return replaced
  }

  async delete(of: Resource<unknown>, name: string): Promise<void> {
    await this.#enter({ verb: 'delete', plural: of.plural, name })
    this.#stored(of, name)
    this.#objects.delete(keyOf(of, name))
    this.#tell(keyOf(of, name))
  }

  serverNow(): number {
    return this.now
  }

  /** Stores an object behind the back of whoever holds an older copy. */
  put<T>(of: Resource<T>, object: T): T {
    const next = structuredClone(object) as Json
    const metadata = metadataOf(next)
    const key = keyOf(of, metadata.name)
    const uid = metadataOf(this.#objects.get(key) ?? {}).uid ?? metadata.uid ?? randomUUID()
    next['metadata'] = { ...metadata, uid, resourceVersion: String(++this.#version) }
    this.#objects.set(key, next)
    this.#tell(key)
    return structuredClone(next) as T
  }

  peek<T>(of: Resource<T>, name: string): T | undefined {
    return structuredClone(this.#objects.get(keyOf(of, name))) as T | undefined
  }

  all<T>(of: Resource<T>): T[] {
    const prefix = `${of.plural}/`
    const found = [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object)
    return structuredClone(found) as T[]
  }

  /** How often a verb was called on a kind. */
  count(verb: Verb, of: Resource<unknown>): number {
    return this.calls.filter((call) => call.verb === verb && call.plural === of.plural).length
  }

  /** Tells of every change of an object of the kind, by its name. */
  onChange(of: Resource<unknown>, listener: (name: string) => void): void {
    const prefix = `${of.plural}/`
    this.#listeners.add((key) => {
      if (key.startsWith(prefix)) listener(key.slice(prefix.length))
    })
  }

  async #enter(call: FakeCall): Promise<FakeCall> {
    this.calls.push(call)
    await this.before(call)
    return call
  }

  #stored(of: Resource<unknown>, name: string): Json {
    const found = this.#objects.get(keyOf(of, name))
    if (!found) throw failure('KUBE_NOT_FOUND', 404)
    return found
  }

  #tell(key: string): void {
    for (const listener of this.#listeners) listener(key)
  }
}

/** A KubeError as the client throws it. */
export function failure(
  code: ConstructorParameters<typeof KubeError>[0],
  status: number,
  causes: { message: string }[] = [],
): KubeError {
  return new KubeError(code, `fake ${status}`, { status, causes })
}

function keyOf(of: Resource<unknown>, name: string): string {
  return `${of.plural}/${name}`
}

function metadataOf(object: Json): { name: string; uid?: string; resourceVersion?: string } {
  return (object['metadata'] ?? { name: '' }) as { name: string; uid?: string; resourceVersion?: string }
}

/** RFC 7396. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return structuredClone(patch)
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {}
  const next: Json = { ...(base as Json) }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key]
    else next[key] = merge(next[key], value)
  }
  return next
}

function matches(object: Json, selector: string | undefined): boolean {
  if (selector === undefined) return true
  const [path = '', value = ''] = selector.split('=')
  const found = path.split('.').reduce<unknown>((inner, key) => (inner as Json | undefined)?.[key], object)
  return (found ?? '') === value
}
