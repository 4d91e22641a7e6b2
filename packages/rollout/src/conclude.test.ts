import { describe, expect, it } from 'vitest'
import { isVerified, refusalOf, resultEnd } from './conclude.ts'
import type { SlimNode } from './slim-node.ts'
import { aJob, aNode, aTask, PROCEEDING } from './testing/fixtures.ts'

const AT_NEW = { version: 'v1.28.6-kubeedge-v1.12.0' }

function end(outcome: string, code: string, node: Partial<SlimNode> = AT_NEW) {
  const result = { attempt: 1, outcome, code, from: 'v1.11.0', to: 'v1.12.0' }
  const found = resultEnd(aTask(PROCEEDING), result, aNode(node))
  return found && [found.phase, found.reason, found.outcome]
}

describe('resultEnd', () => {
  it.each([
    ['Succeeded', 'Upgraded', ['Successful', 'Upgraded', 'Succeeded']],
    ['RolledBack', 'HealthFailed', ['Failure', 'HealthFailed', 'RolledBack']],
    ['RolledBack', 'Upgraded', ['Failure', 'RolledBack', 'RolledBack']],
    ['RolledBack', 'no word of ours', ['Failure', 'RolledBack', 'RolledBack']],
    ['RollbackFailed', 'HealthFailed', ['Failure', 'RollbackFailed', 'RollbackFailed']],
    ['StateUnreadable', 'StateUnreadable', ['Unknown', 'StateUnreadable', 'StateUnreadable']],
    ['FailedBeforeChange', 'PullFailed', ['Failure', 'PullFailed', 'FailedBeforeChange']],
    ['FailedBeforeChange', 'Upgraded', ['Failure', 'FailedBeforeChange', 'FailedBeforeChange']],
    ['FailedBeforeChange', '', ['Failure', 'FailedBeforeChange', 'FailedBeforeChange']],
    ['RefusedBeforeChange', 'PolicyRefused', ['Failure', 'PolicyRefused', 'RefusedBeforeChange']],
    ['RefusedBeforeChange', 'Busy', ['Pending', 'Busy', '']],
    ['Cancelled', 'Cancelled', ['Cancelled', 'Cancelled', 'Cancelled']],
    ['', '', ['Unknown', 'StateUnreadable', 'StateUnreadable']],
  ])('%s with %s is %j', (outcome, code, expected) => {
    expect(end(outcome, code)).toEqual(expected)
  })

  it('does not believe a success of a node that does not show it (R14)', () => {
    expect(end('Succeeded', 'Upgraded', {})).toBeUndefined()
    expect(end('Succeeded', 'Upgraded', { ...AT_NEW, ready: false })).toBeUndefined()
    expect(end('Succeeded', 'Upgraded', { ...AT_NEW, uid: 'another' })).toBeUndefined()
  })
})

describe('isVerified', () => {
  const probed = (version: string) =>
    aTask({ ...PROCEEDING, edge: { attempt: 1, seq: 1, probe: { version, bootID: 'b', time: '' } } })

  it('goes by what the kubelet says where there is one', () => {
    expect(isVerified(probed('v1.12.0'), aNode())).toBe(false)
    expect(isVerified(probed('v1.11.0'), aNode(AT_NEW))).toBe(true)
  })

  it('goes by the probe where the hub keeps the Node', () => {
    expect(isVerified(probed('v1.12.0'), aNode({ registered: true }))).toBe(true)
    expect(isVerified(probed('1.12.0'), aNode({ registered: true }))).toBe(true)
    expect(isVerified(probed('v1.11.0'), aNode({ registered: true }))).toBe(false)
    expect(isVerified(aTask(PROCEEDING), aNode({ registered: true }))).toBe(false)
  })

  it('goes by the probe for another component, whatever the agent runs', () => {
    const job = aJob({ upgradeHub: { component: 'edgehub' } })
    const task = aTask({ ...PROCEEDING, edge: { attempt: 1, seq: 1, probe: { version: 'v1.11.0' } } }, job)
    expect(isVerified(task, aNode(AT_NEW))).toBe(false)
  })
})

describe('refusalOf', () => {
  it.each([
    ['Busy', 'Pending'],
    ['PermissionExpired', 'Pending'],
    ['PreparedStale', 'Pending'],
    ['PolicyRefused', 'Failure'],
    ['CheckFailed', 'Failure'],
    ['AlreadyAtVersion', 'Skipped'],
    ['Cancelled', 'Cancelled'],
    ['Upgraded', 'Failure'],
    ['TimedOut', 'Failure'],
    ['gibberish', 'Failure'],
    [undefined, 'Failure'],
  ])('%s is %s', (code, phase) => {
    expect(refusalOf(code).phase).toBe(phase)
  })
})
