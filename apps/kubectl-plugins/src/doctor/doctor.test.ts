import { KUBEEDGE_FINALIZER } from '@upgrade-hub/api'
import { SERVER } from '@upgrade-hub/kube/testing'
import { aJob, aNode, aTask, at, condition, held, NOW, PROCEEDING, time } from '@upgrade-hub/rollout/testing'
import { describe, expect, it } from 'vitest'
import { leaderFinding, webhookFindings } from './cluster-checks.ts'
import { edgeFindings, holdFindings, jobFindings } from './fleet-checks.ts'

const lease = (renewTime: string) =>
  ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'upgrade-hub-controllers' },
    spec: { holderIdentity: 'hub-a', leaseDurationSeconds: 15, renewTime },
  }) as const

describe('doctor', () => {
  it('finds a hub that leads, one that has fallen silent, and none', () => {
    expect(leaderFinding(lease(time(0)), at(20))).toMatchObject({ state: 'ok', message: 'hub-a leads' })
    expect(leaderFinding(lease(time(0)), at(40))).toMatchObject({
      state: 'problem',
      message: expect.stringContaining('nothing for 40s'),
    })
    expect(leaderFinding(undefined, NOW).state).toBe('problem')
  })

  it('finds a webhook that is not registered, has no CA, or one that has ended', () => {
    const configuration = (caBundle: string) =>
      ({
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'upgrade-hub' },
        webhooks: [{ name: 'nodeupgradejobs.validating.upgradehub.io', clientConfig: { caBundle } }],
      }) as const
    const ca = Buffer.from(SERVER.ca).toString('base64')
    const state = (bundle: string, now = Date.parse('2027-01-01')) =>
      webhookFindings('validating', configuration(bundle), now)[0]?.state
    expect(webhookFindings('validating', undefined, NOW)[0]?.state).toBe('warning')
    expect([state(''), state('bm8='), state(ca), state(ca, Date.parse('2127-01-01'))]).toEqual([
      'problem',
      'problem',
      'ok',
      'problem',
    ])
  })

  it("names jobs that are not run, and KubeEdge's finalizer on one", () => {
    const declined = aJob({}, { status: { conditions: [condition('Accepted', 'False', 'NotAdopted')] } })
    const taken = aJob({}, { metadata: { name: 'taken', finalizers: [KUBEEDGE_FINALIZER] } })
    expect(
      jobFindings([declined, taken]).map(({ about, state, fix }) => [about, state, fix.includes('adopt')]),
    ).toEqual([
      ["KubeEdge's controller", 'problem', false],
      ['job job', 'problem', true],
    ])
    expect(jobFindings([aJob()])).toMatchObject([{ state: 'ok', message: '1 open, none is refused' }])
  })

  it('finds marks of upgrades that are over, gone, or not theirs', () => {
    const task = aTask(PROCEEDING)
    const node = held(task)
    expect(holdFindings([node], [task])[0]?.state).toBe('ok')
    expect(holdFindings([node], [])[0]?.state).toBe('problem')
    expect(holdFindings([node], [{ ...task, status: { phase: 'Failure' } }])[0]?.state).toBe('problem')
    expect(
      holdFindings([node], [{ ...task, metadata: { ...task.metadata, uid: 'other' } }])[0],
    ).toMatchObject({ state: 'problem', message: expect.stringContaining('n1') })
  })

  it('finds edges that never enrolled, are away, or whose certificate has ended', () => {
    const nodes = [aNode(), aNode({ name: 'n2', ready: false }), aNode({ name: 'n3' })]
    const identities = [
      { name: 'n1', notAfter: time(-1) },
      { name: 'n2', notAfter: time(100) },
    ]
    expect(edgeFindings(nodes, identities, NOW).map(({ state, message }) => `${state} ${message}`)).toEqual([
      'warning n3 never enrolled: no job can upgrade them',
      'warning n2 are not Ready',
      'problem the certificates of n1 have ended',
    ])
    expect(edgeFindings([aNode()], [{ name: 'n1', notAfter: '' }], NOW)[0]?.state).toBe('ok')
  })
})
