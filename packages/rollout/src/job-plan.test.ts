import type { NodeUpgradeJobSpec } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { jobPlan, specHash, specProblem } from './job-plan.ts'
import { aJob } from './testing/fixtures.ts'

const digest = (letter: string) => `sha256:${letter.repeat(64)}`
const plan = (spec: NodeUpgradeJobSpec) => jobPlan(aJob(spec))

describe('jobPlan', () => {
  it('fills in what a KubeEdge job leaves out', () => {
    expect(plan({ version: '1.12.0' })).toMatchObject({
      version: 'v1.12.0',
      image: 'docker.io/kubeedge/installation-package:v1.12.0',
      tool: 'keadm',
      component: 'edgecore',
      timeoutSeconds: 300,
      maxConcurrent: 1,
      prepareAhead: 0,
      busyPolicy: 'Wait',
      retry: { limit: 0, backoffSeconds: 60 },
      tolerance: 0.1,
      isolation: 'Cordon',
      keepCordonedOn: ['RollbackFailed'],
      offline: { policy: 'Skip', ttlSeconds: 86_400 },
      versionPolicy: 'UpgradeOnly',
      requireConfirmation: false,
    })
  })

  it('reads 0 and empty words as their defaults', () => {
    const spec = { timeoutSeconds: 0, concurrency: 0, failureTolerate: '', image: '', upgradeTool: '' }
    expect(plan(spec)).toMatchObject({ timeoutSeconds: 300, maxConcurrent: 1, tolerance: 0.1, tool: 'keadm' })
  })

  it.each([
    ['a tag gives way to the version', { image: 'host:5000/a/b:v1' }, 'host:5000/a/b:v1.12.0'],
    [
      'build metadata becomes a tag',
      { image: 'host/a', version: 'v1.12.0+k0s.1' },
      'docker.io/host/a:v1.12.0-k0s.1',
    ],
    ['a digest wins', { image: `a/b@${digest('c')}` }, `docker.io/a/b@${digest('c')}`],
    [
      'the digest gatter pins',
      { image: 'a/b', imageDigestGatter: { value: digest('d') } },
      `docker.io/a/b@${digest('d')}`,
    ],
    [
      'a digest in the image wins over the gatter',
      { image: `a/b@${digest('c')}`, imageDigestGatter: { value: digest('d') } },
      `docker.io/a/b@${digest('c')}`,
    ],
  ])('image: %s', (_, spec, image) => {
    expect(plan(spec).image).toBe(image)
  })

  it.each([
    [
      {},
      {
        checkSeconds: 60,
        downloadSeconds: 240,
        upgradeSeconds: 300,
        rollbackSeconds: 300,
        verifySeconds: 120,
      },
    ],
    [{ timeoutSeconds: 60 }, { checkSeconds: 60, downloadSeconds: 30, upgradeSeconds: 60 }],
    [
      { upgradeHub: { timeouts: { checkSeconds: 5, downloadSeconds: 0, upgradeSeconds: 7 } } },
      { checkSeconds: 5, downloadSeconds: 295, upgradeSeconds: 7 },
    ],
  ])('the clocks of %j are %j', (spec, timeouts) => {
    expect(plan(spec).timeouts).toMatchObject(timeouts)
  })

  it('says digests by platform however they were given', () => {
    const spec = {
      imageDigestGatter: { amd64: digest('a') },
      upgradeHub: { digests: { 'linux/arm/v7': digest('b') } },
    }
    expect(plan(spec).digests).toEqual({ 'linux/amd64': digest('a'), 'linux/arm/v7': digest('b') })
  })
})

describe('specProblem', () => {
  it.each<[NodeUpgradeJobSpec | undefined, string | undefined]>([
    [undefined, 'both NodeNames and LabelSelector are NOT specified'],
    [{ version: 'v1.12.0' }, 'both NodeNames and LabelSelector are NOT specified'],
    [
      { version: 'v1.12.0', nodeNames: ['a'], labelSelector: {} },
      'both NodeNames and LabelSelector are specified',
    ],
    [{ nodeNames: ['a'] }, 'invalid version ""'],
    [{ nodeNames: ['a'], version: 'latest' }, 'invalid version latest'],
    [{ nodeNames: ['a'], version: 'v1.12.0', image: 'noslash' }, 'invalid image repo noslash'],
    [
      { nodeNames: ['a'], version: 'v1.12.0', upgradeTool: 'sh' },
      'unknown upgradeTool sh: use keadm or exec',
    ],
    [
      { nodeNames: ['a'], version: 'v1.12.0', failureTolerate: '2' },
      'failureTolerate 2 is not a ratio from 0 to 1',
    ],
    [
      { nodeNames: ['a'], version: 'v1.12.0', failureTolerate: 'x' },
      'failureTolerate x is not a ratio from 0 to 1',
    ],
    [
      { version: 'v1.12.0', labelSelector: {} },
      'an empty labelSelector means every edge node: set upgradeHub.allNodes to true if that is meant',
    ],
    [{ version: 'v1.12.0', labelSelector: {}, upgradeHub: { allNodes: true } }, undefined],
    [{ version: 'v1.12.0', nodeNames: ['a'] }, undefined],
  ])('of %j is %j', (spec, problem) => {
    expect(specProblem(spec)).toBe(problem)
  })
})

describe('specHash', () => {
  it('is the same whatever the order of keys, and another for another spec', () => {
    const hash = specHash(aJob({ version: 'v1.12.0', concurrency: 2 }))
    expect(specHash(aJob({ concurrency: 2, version: 'v1.12.0' }))).toBe(hash)
    expect(specHash(aJob({ version: 'v1.12.0', concurrency: 3 }))).not.toBe(hash)
  })
})
