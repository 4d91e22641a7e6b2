import { CRDS } from '@upgrade-hub/api'
import { noMetrics, silentLogger } from '@upgrade-hub/core'
import { type Crd, compileCrd, type JsonObject } from '@upgrade-hub/embedded/schema'
import { beforeEach, describe, expect, it } from 'vitest'
import { JOBS, TASKS } from '../../kube-api.ts'
import { FakeKube, failure } from '../../testing/fake-kube.ts'
import { makeAnswer, makeProgress, makeResult, makeTask } from '../../testing/tasks.ts'
import { EdgeWriter } from './edge-writer.ts'

let kube: FakeKube
let stale: ReturnType<typeof makeTask> | undefined

beforeEach(() => {
  kube = new FakeKube()
  stale = undefined
})

/** The cache shows `stale` where a test sets it, else what is stored. */
function writer(): EdgeWriter {
  const cache = { get: (name: string) => stale ?? kube.peek(TASKS, name) }
  return new EdgeWriter({ client: kube, cache, log: silentLogger, metrics: noMetrics })
}

const edgeOf = () => kube.peek(TASKS, 'job-abc')?.status?.edge
const kinds = (decisions: readonly { kind: string }[]) => decisions.map(({ kind }) => kind)

describe('EdgeWriter', () => {
  it('stores a batch in one patch of status.edge with the resourceVersion that it decided on', async () => {
    const { metadata } = kube.put(TASKS, makeTask())
    const decisions = await writer().write('job-abc', [makeProgress(), makeAnswer()])
    expect(kinds(decisions)).toEqual(['already', 'already'])
    expect(kube.calls).toEqual([
      {
        verb: 'patch',
        plural: 'nodeupgradetasks',
        name: 'job-abc',
        body: {
          metadata: { resourceVersion: metadata.resourceVersion },
          status: { edge: expect.anything() },
        },
      },
    ])
    expect(edgeOf()).toMatchObject({ step: 'E2', answer: { value: 'prepared' } })
  })

  it('asks nobody when everything is known', async () => {
    kube.put(TASKS, makeTask())
    await writer().write('job-abc', [makeResult()])
    kube.calls.length = 0
    expect(kinds(await writer().write('job-abc', [makeResult()]))).toEqual(['already'])
    expect(kube.calls).toEqual([])
  })

  it('reads live and decides again when somebody was faster', async () => {
    stale = kube.put(TASKS, makeTask())
    await kube.patch(TASKS, 'job-abc', { status: { reason: 'by a controller' } })
    expect(kinds(await writer().write('job-abc', [makeResult()]))).toEqual(['already'])
    expect(kube.peek(TASKS, 'job-abc')?.status).toMatchObject({
      reason: 'by a controller',
      edge: { results: [{}] },
    })
  })

  it('refuses only by the live object: a cache that lags does not lose an answer', async () => {
    stale = kube.put(TASKS, makeTask({ intent: { seq: 0 } }))
    kube.put(TASKS, makeTask())
    expect(kinds(await writer().write('job-abc', [makeAnswer()]))).toEqual(['already'])
    expect(edgeOf()?.answer?.seq).toBe(1)
  })

  it('says 404 only after a live read', async () => {
    const [decision] = await writer().write('job-abc', [makeResult()])
    expect(decision).toMatchObject({ kind: 'refuse', code: 'UNKNOWN_TASK' })
    expect(kube.count('get', TASKS)).toBe(1)
  })

  it('does not write into a task of the same name that is another', async () => {
    stale = kube.put(TASKS, makeTask())
    await kube.delete(TASKS, 'job-abc')
    kube.put(TASKS, { ...makeTask(), metadata: { name: 'job-abc', uid: 'another' } })
    const [decision] = await writer().write('job-abc', [makeAnswer()])
    expect(decision).toMatchObject({ kind: 'refuse', code: 'UNKNOWN_TASK' })
    expect(edgeOf()).toBeUndefined()
  })

  it('reads back when the answer to its write was lost, and writes once', async () => {
    kube.put(TASKS, makeTask())
    kube.after = () => {
      kube.after = () => undefined
      throw failure('KUBE_UNKNOWN_OUTCOME', 504)
    }
    expect(kinds(await writer().write('job-abc', [makeResult()]))).toEqual(['already'])
    expect(kube.count('patch', TASKS)).toBe(1)
    expect(edgeOf()?.results).toHaveLength(1)
  })

  it('acknowledges nothing while the API server is away', async () => {
    kube.put(TASKS, makeTask())
    kube.before = ({ verb }) => {
      if (verb === 'patch') throw failure('KUBE_UNREACHABLE', 0)
    }
    await expect(writer().write('job-abc', [makeResult()])).rejects.toMatchObject({
      code: 'KUBE_UNREACHABLE',
    })
  })

  it('acknowledges nothing that a foreign schema pruned', async () => {
    kube.put(TASKS, makeTask())
    kube.check = (object) => {
      delete (object['status'] as { edge?: unknown }).edge
    }
    await expect(writer().write('job-abc', [makeResult()])).rejects.toMatchObject({ code: 'EDGE_NOT_STORED' })
  })

  it('takes a refusal whose every cause is Stale as news that is already newer', async () => {
    stale = kube.put(TASKS, makeTask())
    kube.check = () => {
      kube.check = () => undefined
      kube.put(TASKS, makeTask({ edge: { attempt: 1, seq: 9, step: 'E7' } }))
      throw failure('KUBE_INVALID', 422, [{ message: 'Forbidden: Stale: attempt and seq never go back' }])
    }
    const decisions = await writer().write('job-abc', [makeProgress({ Final: false, Seq: 4 })])
    expect(kinds(decisions)).toEqual(['already'])
    expect(edgeOf()).toMatchObject({ seq: 9, step: 'E7' })
  })

  it('stores the verdict alone when the schema refuses the rest', async () => {
    kube.put(TASKS, makeTask())
    kube.check = (object) => {
      const { edge } = object['status'] as { edge: { logTail?: string } }
      if (edge.logTail !== undefined)
        throw failure('KUBE_INVALID', 422, [{ message: 'Too long: may not be' }])
    }
    const result = makeResult({ Outcome: 'RolledBack', Status: '', LogTail: 'long' })
    expect(kinds(await writer().write('job-abc', [makeProgress(), result]))).toEqual(['already', 'already'])
    expect(edgeOf()).toMatchObject({ results: [{ outcome: 'RolledBack' }] })
  })

  it('gives up on a schema that refuses everything, without acknowledging', async () => {
    kube.put(TASKS, makeTask())
    kube.check = () => {
      throw failure('KUBE_INVALID', 422, [{ message: 'Invalid value' }])
    }
    await expect(writer().write('job-abc', [makeResult()])).rejects.toMatchObject({ code: 'EDGE_NOT_STORED' })
    expect(kube.count('patch', TASKS)).toBe(2)
  })

  it.each([
    ['results', 'open', { conditions: [] }],
    ['late', 'finished', { conditions: [{ type: 'Finished', status: 'True' }] }],
    ['late', 'deleted', undefined],
  ] as const)(
    'puts the result of a task whose end is not known into %s while its job is %s',
    async (list, _, status) => {
      kube.put(TASKS, makeTask({ phase: 'Unknown' }))
      if (status) {
        kube.put(JOBS, { metadata: { name: 'job', uid: 'job-uid' }, status } as never)
      }
      await writer().write('job-abc', [makeResult()])
      expect(edgeOf()?.[list]).toHaveLength(1)
    },
  )

  it('writes nothing that the rules of the CRD refuse, in any order of messages', async () => {
    kube.put(TASKS, makeTask({ attempt: 2, intent: { seq: 3, verb: 'prepare' } }))
    const crd = CRDS.find(({ metadata }) => metadata.name.startsWith('nodeupgradetasks')) as unknown as Crd
    const schema = compileCrd(crd, 'v1alpha1')
    kube.check = (object, old) => {
      const causes = schema.validate(object as JsonObject, old as JsonObject)
      if (causes.length > 0)
        throw failure(
          'KUBE_INVALID',
          422,
          causes.map(({ message }) => ({ message })),
        )
    }
    for (const message of [
      makeAnswer({ Value: 'accepted' }),
      makeProgress(),
      makeResult({ Outcome: 'RolledBack', Status: '', LogTail: 'why' }),
      makeAnswer({
        Attempt: 2,
        IntentSeq: 3,
        FromVersion: 'v1.0.0',
        Platform: { os: 'linux', arch: 'arm64' },
      }),
      makeProgress({ Attempt: 2, Seq: 1 }),
      makeResult(),
      makeResult({ attempt: 2, HistoryID: 'job-abc.2' }),
    ]) {
      expect(kinds(await writer().write('job-abc', [message]))).toEqual(['already'])
    }
    expect(edgeOf()).toMatchObject({
      attempt: 2,
      results: [{ attempt: 1 }, { attempt: 2 }],
      late: [{ attempt: 1 }],
    })
  })
})
