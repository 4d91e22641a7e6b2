import { describe, expect, it } from 'vitest'
import { jobPlan, specHash } from './job-plan.ts'
import { planHash, taskObject } from './task-object.ts'
import { aJob } from './testing/fixtures.ts'

const target = { nodeName: 'n1', nodeUID: 'n1-uid', order: 4, wave: 0, verdict: 'Run' as const }

function task(name = 'job', nodeName = 'n1') {
  const job = aJob({}, { metadata: { name, uid: 'job-uid' } })
  return taskObject(job, jobPlan(job), { ...target, nodeName })
}

describe('taskObject', () => {
  it('belongs to its job, carries our finalizer, and says what to do', () => {
    const job = aJob({ checkItems: ['cpu'], requireConfirmation: true })
    const { metadata, spec } = taskObject(job, jobPlan(job), target)
    const owner = {
      apiVersion: 'operations.kubeedge.io/v1alpha2',
      kind: 'NodeUpgradeJob',
      name: 'job',
      uid: 'job-uid',
    }
    expect(metadata.finalizers).toEqual(['upgradehub.io/release'])
    expect(metadata.ownerReferences).toEqual([{ ...owner, controller: true, blockOwnerDeletion: true }])
    expect(metadata.labels).toEqual({ 'upgradehub.io/job-uid': 'job-uid', 'upgradehub.io/job-name': 'job' })
    expect(spec).toMatchObject({
      owner,
      jobName: 'job',
      jobSpecHash: specHash(job),
      nodeName: 'n1',
      nodeUID: 'n1-uid',
      order: 4,
      verdict: 'Run',
      version: 'v1.12.0',
      checkItems: ['cpu'],
      requireConfirmation: true,
    })
  })

  it('carries the probes of the job', () => {
    const probes = [{ tcpSocket: { port: 10_350 }, failureThreshold: 5 }]
    const job = aJob({ upgradeHub: { health: { probes } } })
    expect(taskObject(job, jobPlan(job), target).spec.probes).toEqual(probes)
    expect(task().spec.probes).toBeUndefined()
  })

  it('names the registry that must say the same digest, where the job does', () => {
    const registryAPI = { host: 'registry.example', token: 't' }
    const job = aJob({ imageDigestGatter: { registryAPI } })
    expect(taskObject(job, jobPlan(job), target).spec.registryAPI).toEqual(registryAPI)
    expect(task().spec).not.toHaveProperty('registryAPI')
  })

  it('has the same name for ever, and another for each node and job', () => {
    expect(task()).toEqual(task())
    const names = [task(), task('job', 'n2'), task('job2')].map(({ metadata }) => metadata.name)
    expect(new Set(names).size).toBe(3)
  })

  it.each([1, 63, 64, 179, 180, 181, 253])(
    'gives a job name of %i characters a valid name and label (R12)',
    (length) => {
      const { metadata } = task(`${'a'.repeat(length - 1)}z`, 'n'.repeat(253))
      expect(metadata.name.length).toBeLessThanOrEqual(201)
      expect(metadata.name).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/)
      expect(metadata.labels?.['upgradehub.io/job-name']?.length ?? 0).toBeLessThanOrEqual(63)
    },
  )

  it('leaves no dot where the name is cut (R12)', () => {
    expect(task(`${'a'.repeat(178)}..b`).metadata.name).toMatch(/^a{178}-[a-z2-7]{20}$/)
  })
})

it('planHash says who is a member, whatever the order', () => {
  expect(planHash(['b', 'a'])).toBe(planHash(['a', 'b']))
  expect(planHash(['a'])).not.toBe(planHash(['a', 'b']))
})
