import { HUB_NAMESPACE, CRDS as OUR_CRDS } from '@upgrade-hub/api'
import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { CRDS, type CustomResourceDefinition, NAMESPACES } from '@upgrade-hub/kube'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeKube, failure } from '../testing/fake-kube.ts'
import { installCrds } from './install-crds.ts'
import { ensureNamespace } from './namespaces.ts'
import { patiently } from './patiently.ts'
import { isSubset } from './subset.ts'

const NAME = 'nodeupgradejobs.operations.kubeedge.io'
let kube: FakeKube
let clock: FakeClock

beforeEach(() => {
  kube = new FakeKube()
  clock = new FakeClock()
  kube.onChange(CRDS, establish)
})

/** What an API server does with a CRD: it fills in defaults and serves it. */
function establish(name: string): void {
  const crd = kube.peek(CRDS, name)
  if (!crd || crd.status) return
  kube.put(CRDS, {
    ...crd,
    spec: { ...crd.spec, preserveUnknownFields: false },
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  } as CustomResourceDefinition)
}

const install = () => installCrds(kube, { clock, log: silentLogger })
const writes = () => kube.calls.filter(({ verb }) => verb === 'create' || verb === 'replace')

describe('installCrds', () => {
  it('makes all kinds and waits until they are served', async () => {
    await install()
    expect(
      kube
        .all(CRDS)
        .map(({ metadata }) => metadata.name)
        .toSorted(),
    ).toEqual(OUR_CRDS.map(({ metadata }) => metadata.name).toSorted())
  })

  it('writes nothing the second time, whatever the server filled in', async () => {
    await install()
    kube.calls.length = 0
    await install()
    expect(writes()).toEqual([])
  })

  it('replaces the schema of a CRD that KubeEdge installed, with its resourceVersion', async () => {
    const theirs = {
      metadata: { name: NAME, annotations: { a: 'b' } },
      spec: { group: 'x' },
      kind: 'x',
    } as never
    kube.put(CRDS, theirs)
    await install()
    const stored = kube.peek(CRDS, NAME)
    expect(isSubset(OUR_CRDS.find(({ metadata }) => metadata.name === NAME)?.spec, stored?.spec)).toBe(true)
    expect(stored?.metadata.annotations).toEqual({ a: 'b' })
    expect(writes().find(({ name }) => name === NAME)).toMatchObject({
      verb: 'replace',
      body: { metadata: { resourceVersion: expect.any(String) } },
    })
  })

  it.each(['KUBE_CONFLICT', 'KUBE_UNKNOWN_OUTCOME', 'KUBE_ALREADY_EXISTS'] as const)(
    'looks again after %s',
    async (code) => {
      kube.after = () => {
        kube.after = () => undefined
        throw failure(code, code === 'KUBE_UNKNOWN_OUTCOME' ? 504 : 409)
      }
      await install()
      expect(kube.all(CRDS)).toHaveLength(OUR_CRDS.length)
    },
  )

  it('says why when a kind is not served', async () => {
    kube.onChange(CRDS, (name) => {
      const crd = kube.peek(CRDS, name)
      if (crd?.status?.conditions?.[0]?.status !== 'True') return
      const conditions = [{ type: 'NamesAccepted', status: 'False', message: 'nuj is taken' }]
      kube.put(CRDS, { ...crd, status: { conditions } })
    })
    const installing = install().catch((error: unknown) => error)
    await clock.advance(40_000)
    expect(await installing).toMatchObject({
      code: 'HUB_CRD_NOT_ESTABLISHED',
      message: expect.stringContaining('nuj is taken'),
    })
  })
})

describe('ensureNamespace', () => {
  it('makes it once, also when two do it at the same time', async () => {
    await Promise.all([ensureNamespace(kube, HUB_NAMESPACE), ensureNamespace(kube, HUB_NAMESPACE)])
    await ensureNamespace(kube, HUB_NAMESPACE)
    expect(kube.all(NAMESPACES)).toHaveLength(1)
  })
})

describe('patiently', () => {
  const patience = () => ({ clock, log: silentLogger, signal: new AbortController().signal })

  it('waits for an API server that is away', async () => {
    let tries = 0
    const opening = patiently(() => {
      if (++tries < 4) return Promise.reject(failure('KUBE_UNREACHABLE', 0))
      return Promise.resolve('there')
    }, patience())
    await clock.advance(60_000)
    expect([await opening, tries]).toEqual(['there', 4])
  })

  it('does not wait for what will not pass, nor after the stop', async () => {
    await expect(
      patiently(() => Promise.reject(failure('KUBE_FORBIDDEN', 403)), patience()),
    ).rejects.toMatchObject({
      code: 'KUBE_FORBIDDEN',
    })
    const stop = new AbortController()
    const away = () => Promise.reject(failure('KUBE_UNREACHABLE', 0))
    const opening = patiently(away, { ...patience(), signal: stop.signal }).catch((error: unknown) => error)
    await clock.advance(10)
    stop.abort(new Error('stopped'))
    expect(await opening).toMatchObject({ message: 'stopped' })
  })
})

describe('isSubset', () => {
  it.each([
    [true, { a: 1, b: [{ c: 1 }] }, { a: 1, b: [{ c: 1, d: 2 }], e: 3 }],
    [false, { a: 1 }, { a: 2 }],
    [false, { b: [1] }, { b: [1, 2] }],
    [false, { a: { b: 1 } }, { a: null }],
    [true, { a: undefined }, {}],
  ])('is %s', (expected, wanted, stored) => {
    expect(isSubset(wanted, stored)).toBe(expected)
  })
})
