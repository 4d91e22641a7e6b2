import { silentLogger } from '@upgrade-hub/core'
import { expect, it } from 'vitest'
import { MemoryAgent } from '../testing/memory-agent.ts'
import { startAnyhow } from './start-anyhow.ts'

const fails = () => Promise.reject(new Error('not now'))

it('neither a hold that cannot be lifted nor a supervisor that cannot be told keeps an agent down', async () => {
  const agent = new MemoryAgent(() => 'the agent')
  agent.release = fails
  await startAnyhow({ service: agent, log: silentLogger, agentMayRun: fails })
  expect(agent.running).toBe('the agent')
})

it('an agent that cannot be started is no reason to throw', async () => {
  const agent = new MemoryAgent(() => 'the agent')
  agent.start = fails
  await startAnyhow({ service: agent, log: silentLogger })
  expect(agent.running).toBeUndefined()
})
