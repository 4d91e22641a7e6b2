import { aJob } from '@upgrade-hub/rollout/testing'
import { describe, expect, it } from 'vitest'
import type { Cluster } from '../cluster/cluster.ts'
import { PLUGINS } from '../plugins.ts'
import { edgeNodes } from '../testing/nodes.ts'
import { completions } from './complete.ts'

const cluster = {
  jobs: () => Promise.resolve([aJob()]),
  nodes: () => Promise.resolve(edgeNodes(2)),
} as unknown as Cluster

async function offered(...words: string[]): Promise<string[]> {
  const plugin = PLUGINS['nodeupgrade']
  if (!plugin) throw new Error('there is no plugin')
  return completions(plugin, words, () => Promise.resolve(cluster))
}

describe('completion', () => {
  it('offers verbs with what they do, and never files', async () => {
    expect(await offered('pa')).toEqual([
      'pause\tstart no further node; those that were told to proceed finish',
      ':4',
    ])
    expect(await offered('frob', '')).toEqual([':4'])
  })

  it('offers what the verb takes: jobs, nodes, flags and formats', async () => {
    expect(await offered('pause', '')).toEqual(['job\topen', ':4'])
    expect(await offered('why', 'edge-')).toEqual(['edge-01', 'edge-02', ':4'])
    expect(await offered('why', 'edge-01', '--job', '')).toEqual(['job\topen', ':4'])
    expect(await offered('watch', '--t')).toEqual(['--timeout', ':4'])
    expect(await offered('plan', '--node', '')).toEqual(['edge-01', 'edge-02', ':4'])
    expect(await offered('plan', '--to-version', '')).toEqual([':4'])
    expect(await offered('status', 'job', '-o', '')).toEqual(['wide', 'json', 'yaml', ':4'])
  })
})
