import { type KubeClient, KubeError } from '@upgrade-hub/kube'

/** A write as it leaves the controllers. */
export interface Write {
  readonly verb: 'create' | 'patch'
  readonly plural: string
  readonly name: string
  readonly body: unknown
}

/** What becomes of a write: done, refused as older, not sent at all, or done without an answer. */
export type Fate = 'done' | 'conflict' | 'away' | 'lost'

const FAILURES = {
  conflict: () => new KubeError('KUBE_CONFLICT', 'injected', { status: 409 }),
  away: () => new KubeError('KUBE_UNREACHABLE', 'injected'),
  lost: () => new KubeError('KUBE_UNKNOWN_OUTCOME', 'injected', { status: 504 }),
}

/** A client whose writes meet their fate; `written` hears of those that were done. Reads and watches are real. */
export function faultyClient(
  client: KubeClient,
  fateOf: (write: Write) => Fate,
  written: (write: Write) => void,
): KubeClient {
  const send = async <T>(write: Write, run: () => Promise<T>): Promise<T> => {
    const fate = fateOf(write)
    if (fate === 'conflict' || fate === 'away') throw FAILURES[fate]()
    const stored = await run()
    written(write)
    if (fate === 'lost') throw FAILURES.lost()
    return stored
  }
  const create: KubeClient['create'] = (of, object, options) => {
    const { name } = (object as { metadata: { name: string } }).metadata
    return send({ verb: 'create', plural: of.plural, name, body: object }, () =>
      client.create(of, object, options),
    )
  }
  const patch: KubeClient['patch'] = (of, name, body, options) =>
    send({ verb: 'patch', plural: of.plural, name, body }, () => client.patch(of, name, body, options))
  const overridden: Record<PropertyKey, unknown> = { create, patch }
  return new Proxy(client, {
    get: (target, key) => {
      const value: unknown = overridden[key] ?? Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
