import { invariant } from '@upgrade-hub/core'
import { badAnswer } from './answers.ts'
import type {
  Abortable,
  DeleteOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  Placed,
  RawOptions,
  ReplaceOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'
import { collectionPath, creationPath, objectPath, queryString } from './paths.ts'
import { apiVersionOf, type Resource } from './resources.ts'
import { type Call, nameOf, type Transport } from './transport.ts'
import type { KubeObject, ListPage } from './types.ts'
import { type WatchEvent, watchEvents } from './watch.ts'

/** A read may be repeated within this time. */
const READ_TIMEOUT_MS = 30_000
const WRITE_TIMEOUT_MS = 10_000
/** A new leader counts on it: no create of its predecessor lands later than this. */
export const CREATE_TIMEOUT_MS = 5_000
const WATCH_OPEN_TIMEOUT_MS = 15_000

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

/**
 * Talks to one API server in raw JSON: objects are what was on the wire, with their unknown fields. Every method rejects
 * with a KubeError, a CredentialError, or the reason of its signal.
 */
export class KubeClient {
  readonly #transport: Transport

  /** Use `connect`. */
  constructor(transport: Transport) {
    this.#transport = transport
  }

  async get<T>(of: Resource<T>, name: string, options: Placed = {}): Promise<T> {
    return this.#read<T>(objectPath(of, name, options), options)
  }

  /** One page; `limit` and `continue` ask for the next. Items carry apiVersion and kind, which servers leave out. */
  async list<T>(of: Resource<T>, options: ListOptions = {}): Promise<ListPage<T>> {
    const { labelSelector, fieldSelector, limit, continue: next, resourceVersion } = options
    const query = queryString({ labelSelector, fieldSelector, limit, continue: next, resourceVersion })
    const page = await this.#read<ListPage<T>>(collectionPath(of, options.namespace) + query, options)
    const typed = { apiVersion: apiVersionOf(of), kind: of.kind }
    return { metadata: page.metadata, items: (page.items ?? []).map((item) => ({ ...typed, ...item })) }
  }

  /**
   * Follows a kind until the server ends the stream (after `timeoutSeconds`), an error, or the signal.
   * `Informer` is what most callers want.
   */
  async *watch<T>(of: Resource<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const { labelSelector, fieldSelector, resourceVersion, initialEvents, timeoutSeconds, signal } = options
    const query = queryString({
      watch: true,
      allowWatchBookmarks: true,
      labelSelector,
      fieldSelector,
      resourceVersion,
      timeoutSeconds,
      ...(initialEvents ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
    })
    const path = collectionPath(of, options.namespace) + query
    const call = { kind: 'read', method: 'GET', path, timeoutMs: WATCH_OPEN_TIMEOUT_MS, signal } as const
    yield* watchEvents<T>(await this.#transport.open(call), `watch of ${of.plural}`)
  }

  async create<T>(of: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = creationPath(of, options.namespace)
    return this.#write<T>('POST', path, {
      ...options,
      body: object,
      timeoutMs: options.timeoutMs ?? CREATE_TIMEOUT_MS,
    })
  }

  /** Changes what the body names. A `metadata.resourceVersion` in it makes the server compare first (isConflict). */
  async patch<T>(of: Resource<T>, name: string, body: unknown, options: PatchOptions = {}): Promise<T> {
    const contentType = PATCH_TYPES[options.type ?? 'merge']
    return this.#write<T>('PATCH', objectPath(of, name, options), { ...options, body, contentType })
  }

  /** Replaces the whole object; with `metadata.resourceVersion` only if that is still the stored one. */
  async replace<T extends KubeObject>(of: Resource<T>, object: T, options: ReplaceOptions = {}): Promise<T> {
    const path = objectPath(of, object.metadata.name, options)
    return this.#write<T>('PUT', path, { ...options, body: object })
  }

  /** Deletes one object; with `uid` or `resourceVersion` only if it is still that one (isConflict). */
  async delete(of: Resource<unknown>, name: string, options: DeleteOptions = {}): Promise<void> {
    const { uid, resourceVersion, propagationPolicy } = options
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions,
      ...(propagationPolicy ? { propagationPolicy } : {}),
    }
    await this.#write('DELETE', objectPath(of, name, options), { ...options, body })
  }

  /** Any other path: subresources, discovery, health. Answers that are no JSON come as text. */
  async raw(path: string, options: RawOptions = {}): Promise<unknown> {
    invariant(path.startsWith('/'), 'a raw path is absolute')
    const method = options.method ?? 'GET'
    const text = await this.#transport.call({
      kind: method === 'GET' ? 'read' : 'write',
      method,
      path,
      ...bodyOf(options.body, options.contentType),
      ...limits(options, method === 'GET' ? READ_TIMEOUT_MS : WRITE_TIMEOUT_MS),
    })
    try {
      return JSON.parse(text) as unknown
    } catch {
      return text // Health endpoints answer `ok`.
    }
  }

  /** API-server time in ms since the epoch: local until the first answer, corrected by every answer's Date. */
  serverNow(): number {
    return this.#transport.serverClock.now()
  }

  /** Server minus local wall clock, in ms. */
  serverOffsetMs(): number {
    return this.#transport.serverClock.offsetMs()
  }

  /** Ends all connections; calls and watches that run fail. */
  close(): Promise<void> {
    return this.#transport.close()
  }

  #read<T>(path: string, options: Abortable): Promise<T> {
    return this.#json<T>({ kind: 'read', method: 'GET', path, ...limits(options, READ_TIMEOUT_MS) })
  }

  #write<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options: WriteOptions & { body: unknown; contentType?: string; force?: boolean },
  ): Promise<T> {
    const time = limits(options, WRITE_TIMEOUT_MS)
    const query = queryString({
      fieldManager: options.fieldManager,
      force: options.force,
      dryRun: options.dryRun ? 'All' : undefined,
      // The server gives up when we do, so that a write does not land long after it was given up here.
      timeout: `${Math.ceil(time.timeoutMs)}ms`,
    })
    const body = bodyOf(options.body, options.contentType)
    return this.#json<T>({ kind: 'write', method, path: path + query, ...body, ...time })
  }

  async #json<T>(call: Call): Promise<T> {
    const text = await this.#transport.call(call)
    try {
      return JSON.parse(text) as T
    } catch (cause) {
      throw badAnswer(nameOf(call), 'the answer is no JSON', cause)
    }
  }
}

function limits(options: Abortable, defaultMs: number): Pick<Call, 'timeoutMs' | 'maxTries' | 'signal'> {
  return {
    timeoutMs: options.timeoutMs ?? defaultMs,
    ...(options.maxTries ? { maxTries: options.maxTries } : {}),
    ...(options.signal ? { signal: options.signal } : {}),
  }
}

function bodyOf(body: unknown, contentType = 'application/json'): { body?: string; contentType?: string } {
  return body === undefined ? {} : { body: JSON.stringify(body), contentType }
}
