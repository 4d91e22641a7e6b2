import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { createCa } from '@upgrade-hub/pki'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { isRenewalDue, keepCertificateFresh } from './renewal.ts'

const DAY_MS = 86_400_000
const START = Date.parse('2026-01-01T00:00:00Z')
/** 30 days from START, and an hour before it. */
let pem: string
beforeAll(async () => {
  const clock = new FakeClock(START)
  const ca = await createCa({ commonName: 'ca', validDays: 365 }, clock)
  pem = (await ca.issueClient({ commonName: 'a', validDays: 30 })).certPem
})

describe('renewal', () => {
  it('is due when two thirds of the life are over', () => {
    expect(isRenewalDue(pem, START + 19.9 * DAY_MS)).toBe(false)
    expect(isRenewalDue(pem, START + 20 * DAY_MS)).toBe(true)
  })

  it('is tried every hour until it succeeds; a failure is an error from a week before the end', async () => {
    const clock = new FakeClock(START)
    const stop = new AbortController()
    const log = { ...silentLogger, warn: vi.fn<() => void>(), error: vi.fn<() => void>() }
    const renew = vi.fn<() => Promise<void>>().mockRejectedValue(new Error('hub away'))
    const running = keepCertificateFresh({
      readCertificate: () => Promise.resolve(pem),
      renew,
      clock,
      log,
      signal: stop.signal,
    })
    await clock.advance(19 * DAY_MS)
    expect(renew).not.toHaveBeenCalled()
    await clock.advance(2 * DAY_MS)
    expect(renew.mock.calls.length).toBeGreaterThan(20)
    expect(log.error).not.toHaveBeenCalled()
    await clock.advance(3 * DAY_MS)
    expect(log.error).toHaveBeenCalledWith(
      { error: 'hub away', leftMs: expect.any(Number) },
      expect.stringContaining('join this node again'),
    )
    stop.abort()
    await running
  })

  it('goes on after a certificate that cannot be read', async () => {
    const clock = new FakeClock(START + 25 * DAY_MS)
    const stop = new AbortController()
    const renew = vi.fn<() => Promise<void>>().mockResolvedValue()
    const readCertificate = vi.fn<() => Promise<string>>().mockResolvedValue(pem)
    readCertificate.mockRejectedValueOnce(new Error('ENOENT')).mockRejectedValueOnce(new Error('ENOENT'))
    const options = { readCertificate, renew, clock, log: silentLogger, signal: stop.signal }
    const running = keepCertificateFresh(options)
    await clock.advance(3_600_000)
    expect(renew).toHaveBeenCalledOnce()
    stop.abort()
    await running
  })
})
