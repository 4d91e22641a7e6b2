import type { NodeUpgradeJob, TaskStatus } from '@upgrade-hub/api'
import {
  aJob,
  aNode,
  aTask,
  at,
  condition,
  NOW,
  PREPARED,
  PREPARING,
  PROCEEDING,
  time,
} from '@upgrade-hub/rollout/testing'
import { describe, expect, it } from 'vitest'
import { type Known, whyText } from './why-text.ts'

const running = (more: Partial<NodeUpgradeJob> = {}): NodeUpgradeJob => aJob({}, more)
const says = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
  ...condition(type, status, reason),
  message,
})
const held = (reason: string, message: string) =>
  running({
    status: {
      conditions: [condition('Accepted', 'True', 'Accepted'), says('Progressing', 'False', reason, message)],
    },
  })

function ask(status: Partial<TaskStatus>, more: Partial<Known> = {}): string {
  const job = more.job ?? running()
  return whyText({
    name: 'n1',
    node: aNode(),
    isNodeReadable: true,
    task: aTask(status, job),
    job,
    busy: [],
    isEnrolled: true,
    now: NOW,
    ...more,
  })
}

describe('the sentence of why', () => {
  it.each([
    ['no job', { task: undefined }, 'n1 does not move because no job concerns it'],
    ['no node', { task: undefined, node: undefined }, 'there is no Node of that name'],
    ['a pause', { job: running({ control: { paused: true } }) }, 'the job is paused'],
    ['no hub', { job: running({ status: {} }) }, 'no hub has looked at the job yet'],
    [
      'a job that is not ours',
      {
        job: running({
          status: { conditions: [says('Accepted', 'False', 'NotAdopted', 'set control.adopt')] },
        }),
      },
      'the job is not run (NotAdopted: set control.adopt)',
    ],
    [
      'a breach',
      { job: held('ThresholdBreached', 'too many failed') },
      'the job holds (ThresholdBreached: too many failed)',
    ],
    [
      'a window',
      { job: held('WindowClosed', 'closed until 22:00') },
      'the job holds (WindowClosed: closed until 22:00)',
    ],
    [
      'an approval',
      { job: held('WaitingForApproval', 'wave some waits') },
      'the job holds (WaitingForApproval: wave some waits)',
    ],
    ['taken places', { busy: ['n2', 'n3', 'n4', 'n5'] }, 'taken by n2, n3, n4 and 1 more'],
  ] as const)('of a node that waits names %s', (_, more, words) => {
    expect(ask({}, more as Partial<Known>)).toContain(words)
  })

  it('names a wave that has not begun', () => {
    const job = running({
      status: {
        conditions: [condition('Accepted', 'True', 'Accepted')],
        currentWave: 'canary',
        waves: [
          { name: 'canary', state: 'Upgrading' },
          { name: 'rest', state: 'Pending' },
        ],
      },
    })
    const task = aTask({}, job)
    expect(ask({}, { job, task: { ...task, spec: { ...task.spec, wave: 1 } } })).toContain(
      'its wave rest has not begun; canary is on',
    )
  })

  it('tells a node that moves from one that does not', () => {
    expect(ask(PREPARING, { now: at(30) })).toBe('n1 is moving in job job: being told to prepare, since 30s.')
    expect(ask({ ...PROCEEDING, edge: { attempt: 1, seq: 9, step: 'E9' } })).toContain(
      'is moving in job job: proving health',
    )
    expect(
      ask(
        { phase: 'Failure', reason: 'NoSpace', message: 'disk full', completionTime: time(0) },
        { now: at(60) },
      ),
    ).toBe(
      'n1 does not move in job job: it ended Failure 60s ago (NoSpace: disk full); kubectl nodeupgrade retry job tries it again.',
    )
  })

  it('says of a prepared node who is in its way', () => {
    const other = { task: 'other', taskUID: 'u', epoch: 1, previousUnschedulable: false, takenAt: time(0) }
    expect(ask(PREPARED, { node: aNode({ hold: other }) })).toContain('another upgrade holds it (task other)')
    expect(ask(PREPARED, { node: aNode({ ready: false }) })).toContain('it is not Ready')
    expect(ask(PREPARED, { busy: ['n2'] })).toContain(
      'prepared and waits for its turn: the places of the job are taken by n2',
    )
  })

  it('says of a silent node whether it ever enrolled', () => {
    const silent = { ...PREPARING, reason: 'Unreachable' }
    expect(ask(silent, { isEnrolled: false })).toContain('no edgehub of this name has enrolled')
    expect(ask(silent, { node: aNode({ ready: false }) })).toContain('look at its power')
    expect(ask(silent)).toContain('its edgehub does not answer')
  })
})
