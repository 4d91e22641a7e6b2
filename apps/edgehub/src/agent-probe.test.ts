import { silentLogger } from '@upgrade-hub/core'
import { describe, expect, it, vi } from 'vitest'
import { AgentProbe } from './agent-probe.ts'

describe('AgentProbe', () => {
  it('says whether the version changed, and of which boot it is', async () => {
    const ask = vi.fn<() => Promise<string>>().mockResolvedValue('v1.0.0')
    const probe = new AgentProbe({ bootID: 'boot', ask, log: silentLogger })
    expect(probe.current).toBeUndefined()
    expect(await probe.refresh()).toBe(true)
    expect(probe.current).toEqual({ version: 'v1.0.0', bootID: 'boot' })
    expect(await probe.refresh()).toBe(false)
  })

  it('asks once more for all who call while a question is open', async () => {
    const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const ask = vi.fn<() => Promise<string>>()
    for (const { promise } of answers) ask.mockReturnValueOnce(promise)
    const probe = new AgentProbe({ bootID: 'boot', ask, log: silentLogger })
    const calls = [probe.refresh(), probe.refresh(), probe.refresh()]
    answers[0]?.resolve('v1.0.0')
    answers[1]?.resolve('v1.1.0')
    expect(await Promise.all(calls)).toEqual([true, true, true])
    expect(ask).toHaveBeenCalledTimes(2)
    expect(probe.current?.version).toBe('v1.1.0')
  })
})
