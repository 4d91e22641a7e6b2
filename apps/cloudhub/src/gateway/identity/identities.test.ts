import { FakeClock } from '@upgrade-hub/core/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { IDENTITIES } from '../../kube-api.ts'
import { FakeKube, failure } from '../../testing/fake-kube.ts'
import { Identities } from './identities.ts'

const node = { nodeName: 'n1', fingerprint: 'aa' }
let kube: FakeKube
let clock: FakeClock

beforeEach(() => {
  kube = new FakeKube()
  clock = new FakeClock()
})

/** `cached` false: an informer that has not seen anything yet. */
function identities({ cached = true } = {}): Identities {
  const cache = { get: (name: string) => (cached ? kube.peek(IDENTITIES, name) : undefined) }
  return new Identities({ client: kube, cache, clock })
}

function store(spec: object): void {
  kube.put(IDENTITIES, {
    apiVersion: 'upgradehub.io/v1alpha1',
    kind: 'EdgeIdentity',
    metadata: { name: 'n1' },
    spec: { fingerprint: 'aa', machineID: 'm1', ...spec },
  })
}

describe('Identities', () => {
  it('admits what the cache confirms without asking the API server', async () => {
    store({})
    await identities().admit(node)
    expect(kube.calls).toEqual([])
  })

  it('admits an edge that enrolled before the cache knew', async () => {
    store({})
    await identities({ cached: false }).admit(node)
    expect(kube.count('get', IDENTITIES)).toBe(1)
  })

  it('refuses a key that is not stored, and looks it up only so often', async () => {
    store({ fingerprint: 'bb' })
    const desk = identities()
    const codes: string[] = []
    for (let i = 0; i < 20; i++)
      await desk.admit(node).catch((error: { code: string }) => codes.push(error.code))
    expect(codes).toEqual([...Array(5).fill('REVOKED'), ...Array(15).fill('BUSY')])
    expect(kube.count('get', IDENTITIES)).toBe(5)
  })

  it('costs no API call to greet a node that is known', async () => {
    store({})
    await identities().greet(node, 'm1')
    expect(kube.calls).toEqual([])
  })

  it('lets one of two machines win the first hello when both come at once', async () => {
    store({ machineID: '' })
    const desk = identities()
    const results = await Promise.allSettled([desk.greet(node, 'm1'), desk.greet(node, 'm2')])
    expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(results.find((result) => result.status === 'rejected')?.reason).toMatchObject({
      code: 'IDENTITY_CONFLICT',
    })
  })

  it('reads back after a write whose answer was lost', async () => {
    store({ machineID: '' })
    kube.after = () => {
      kube.after = () => undefined
      throw failure('KUBE_UNKNOWN_OUTCOME', 504)
    }
    await identities().greet(node, 'm1')
    expect(kube.peek(IDENTITIES, 'n1')?.spec.machineID).toBe('m1')
    expect(kube.count('patch', IDENTITIES)).toBe(1)
  })

  it('gives one of two keys that enrol at once the name', async () => {
    const ask = (fingerprint: string, tokenId: string) => ({
      applicant: { by: 'token' as const, tokenId },
      fingerprint,
      notAfter: '',
      now: '',
    })
    const desk = identities()
    const results = await Promise.allSettled([
      desk.enrol('n1', ask('aa', 't1')),
      desk.enrol('n1', ask('bb', 't2')),
    ])
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    expect(kube.all(IDENTITIES)).toHaveLength(1)
  })

  it('says that it cannot know while the API server is away', async () => {
    kube.before = () => {
      throw failure('KUBE_UNREACHABLE', 0)
    }
    await expect(identities().admit(node)).rejects.toMatchObject({
      code: 'KUBE_UNREACHABLE',
      retry: 'backoff',
    })
  })
})
