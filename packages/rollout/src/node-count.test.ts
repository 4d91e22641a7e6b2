import { expect, it } from 'vitest'
import { nodeCount } from './node-count.ts'

it('speaks of one node and of many', () => {
  expect([0, 1, 2].map(nodeCount)).toEqual(['0 nodes', '1 node', '2 nodes'])
})
