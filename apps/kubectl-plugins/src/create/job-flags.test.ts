import { describe, expect, it } from 'vitest'
import { parseFlags } from '../cli/flags.ts'
import { UsageError } from '../errors.ts'
import { JOB_FLAGS, jobFromFlags } from './job-flags.ts'

const specOf = (...args: string[]) => jobFromFlags('j', parseFlags(args, JOB_FLAGS).flags).spec

describe('the job that flags describe', () => {
  it('says nothing but what was said, so that the defaults stay those of the schema', () => {
    expect(specOf('--to-version', 'v1.12.0', '-l', 'a=b')).toEqual({
      version: 'v1.12.0',
      labelSelector: { matchLabels: { a: 'b' } },
    })
  })

  it('has every flag in its field', () => {
    const args = [
      ...['--to-version=v1.12.0', '--node=a', '--node', 'node/b', '--image=k/i', '--concurrency=3'],
      ...['--failure-tolerate=0.2', '--check-items=cpu,disk', '--require-confirmation', '--timeout=10m'],
      ...['--exclude-node=c', '--exclude-selector=x', '--max-concurrent=10%', '--max-unavailable=2'],
      ...['--offline=Queue', '--retries=2', '--allow-downgrade'],
    ]
    expect(specOf(...args)).toEqual({
      version: 'v1.12.0',
      nodeNames: ['a', 'b'],
      image: 'k/i',
      concurrency: 3,
      failureTolerate: '0.2',
      checkItems: ['cpu', 'disk'],
      requireConfirmation: true,
      timeoutSeconds: 600,
      upgradeHub: {
        exclude: {
          nodeNames: ['c'],
          labelSelector: { matchExpressions: [{ key: 'x', operator: 'Exists' }] },
        },
        maxConcurrent: '10%',
        maxUnavailable: 2,
        offline: { policy: 'Queue' },
        retry: { limit: 2 },
        versionPolicy: 'AllowDowngrade',
      },
    })
  })

  it('means every edge node only when that is said', () => {
    expect(specOf('--to-version=v1.12.0', '--all-nodes')).toMatchObject({
      labelSelector: {},
      upgradeHub: { allNodes: true },
    })
    expect(() => specOf('--to-version=v1.12.0')).toThrow('say which nodes')
    expect(() => specOf('--to-version=v1.12.0', '--all-nodes', '--node=a')).toThrow('say which nodes')
  })

  it.each([
    ['no version', ['--node=a']],
    ['a selector that is none', ['--to-version=v1.12.0', '-l', 'a in b']],
    ['a share without its sign', ['--to-version=v1.12.0', '--node=a', '--max-concurrent=ten']],
    ['a policy nobody knows', ['--to-version=v1.12.0', '--node=a', '--offline=Wait']],
    ['a name that is a path', ['--to-version=v1.12.0', '--node=../x']],
  ])('is refused with %s', (_, args) => {
    expect(() => specOf(...args)).toThrow(UsageError)
  })
})
