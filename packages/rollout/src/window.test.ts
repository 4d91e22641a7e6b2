import type { MaintenanceWindow } from '@upgrade-hub/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { neverOpens, windowAt, zoneOf, zoneProblem } from './window.ts'

const ms = (text: string) => Date.parse(text)
const iso = (at: number | undefined) =>
  at === undefined ? undefined : new Date(at).toISOString().replace(':00.000Z', 'Z')
const nightly = (start: string, minutes = 60, more: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  slots: [{ start, durationMinutes: minutes }],
  ...more,
})
const at = (window: MaintenanceWindow, zone: string, text: string) => {
  const { isOpen, until } = windowAt(window, zone, ms(text))
  return `${isOpen ? 'open' : 'closed'} until ${iso(until)}`
}

describe('a window through the changes of the clock', () => {
  it.each([
    // spring: the hour from 02:00 (Berlin, New York) or the half hour from 02:00 (Lord Howe) does not come
    ['Europe/Berlin', '2026-03-29T00:00Z', '02:30', 'closed until 2026-03-29T01:30Z'],
    ['Europe/Berlin', '2026-03-29T01:45Z', '02:30', 'open until 2026-03-29T02:30Z'],
    ['America/New_York', '2026-03-08T05:00Z', '02:30', 'closed until 2026-03-08T07:30Z'],
    ['Australia/Lord_Howe', '2026-10-03T14:00Z', '02:15', 'closed until 2026-10-03T15:45Z'],
    // autumn: the hour, or half hour, comes twice, and the first is meant
    ['Europe/Berlin', '2026-10-24T23:30Z', '02:30', 'closed until 2026-10-25T00:30Z'],
    ['Europe/Berlin', '2026-10-25T00:45Z', '02:30', 'open until 2026-10-25T01:30Z'],
    ['Europe/Berlin', '2026-10-25T01:31Z', '02:30', 'closed until 2026-10-26T01:30Z'],
    ['America/New_York', '2026-11-01T04:00Z', '01:30', 'closed until 2026-11-01T05:30Z'],
    ['Australia/Lord_Howe', '2026-04-04T14:00Z', '01:45', 'closed until 2026-04-04T14:45Z'],
    // a zone that never changes
    ['Etc/GMT-5', '2026-03-28T20:00Z', '02:30', 'closed until 2026-03-28T21:30Z'],
    ['Etc/GMT-5', '2026-10-25T20:00Z', '02:30', 'closed until 2026-10-25T21:30Z'],
  ])('in %s at %s, opening at %s, is %s', (zone, now, start, expected) => {
    expect(at(nightly(start), zone, now)).toBe(expected)
  })

  it('stays open as long as it says, though the clock on the wall jumps', () => {
    expect(at(nightly('01:00', 180), 'Europe/Berlin', '2026-03-29T00:30Z')).toBe(
      'open until 2026-03-29T03:00Z',
    )
    expect(at(nightly('01:00', 180), 'Europe/Berlin', '2026-10-25T00:30Z')).toBe(
      'open until 2026-10-25T02:00Z',
    )
  })
})

describe('a window', () => {
  it('opens on its days only, and over midnight', () => {
    const weekend = { slots: [{ days: ['Sat' as const], start: '22:00', durationMinutes: 240 }] }
    expect(at(weekend, 'UTC', '2026-06-05T12:00Z')).toBe('closed until 2026-06-06T22:00Z')
    expect(at(weekend, 'UTC', '2026-06-07T01:59Z')).toBe('open until 2026-06-07T02:00Z')
    expect(at(weekend, 'UTC', '2026-06-07T02:00Z')).toBe('closed until 2026-06-13T22:00Z')
  })

  it('is one where its slots touch or overlap', () => {
    const slots = [
      { start: '01:00', durationMinutes: 60 },
      { start: '02:00', durationMinutes: 30 },
      { start: '01:30', durationMinutes: 30 },
    ]
    expect(at({ slots }, 'UTC', '2026-06-01T01:10Z')).toBe('open until 2026-06-01T02:30Z')
  })

  it('is shut by blackouts, whose last day belongs to them', () => {
    const window = nightly('01:00', 120, { blackouts: [{ from: '2026-12-24', to: '2026-12-26' }] })
    expect(at(window, 'Europe/Berlin', '2026-12-23T00:30Z')).toBe('open until 2026-12-23T02:00Z')
    expect(at(window, 'Europe/Berlin', '2026-12-24T00:30Z')).toBe('closed until 2026-12-27T00:00Z')
  })

  it('is cut by a blackout in the middle, and opens again after it', () => {
    const window = nightly('01:00', 120, {
      blackouts: [{ from: '2026-06-01T01:30', to: '2026-06-01T02:00' }],
    })
    expect(at(window, 'UTC', '2026-06-01T01:10Z')).toBe('open until 2026-06-01T01:30Z')
    expect(at(window, 'UTC', '2026-06-01T01:30Z')).toBe('closed until 2026-06-01T02:00Z')
    expect(at(window, 'UTC', '2026-06-01T02:00Z')).toBe('open until 2026-06-01T03:00Z')
  })

  it('without slots is open but for its blackouts', () => {
    const window = { blackouts: [{ from: '2026-06-02', to: '2026-06-02' }] }
    expect(windowAt({}, 'UTC', ms('2026-06-01T00:00Z')).isOpen).toBe(true)
    expect(at(window, 'UTC', '2026-06-01T12:00Z')).toBe('open until 2026-06-02T00:00Z')
    expect(at(window, 'UTC', '2026-06-02T12:00Z')).toBe('closed until 2026-06-03T00:00Z')
  })

  it('that never opens says so, and one with a long wait does not', () => {
    const shut = (to: string) => nightly('01:00', 60, { blackouts: [{ from: '2020-01-01', to }] })
    expect(neverOpens(shut('2099-01-01'), ms('2026-06-01T00:00Z'))).toContain('does not open within 400 days')
    expect(neverOpens(shut('2026-12-31'), ms('2026-06-01T00:00Z'))).toBeUndefined()
    expect(neverOpens(undefined, 0)).toBeUndefined()
  })

  it('is judged within seconds even at its largest', () => {
    const slots = Array.from({ length: 64 }, (_, minute) => ({
      start: `01:${String(minute % 60).padStart(2, '0')}`,
      durationMinutes: 5,
    }))
    const blackouts = Array.from({ length: 64 }, () => ({ from: '2020-01-01', to: '2099-01-01' }))
    const before = performance.now()
    expect(neverOpens({ slots, blackouts }, ms('2026-06-01T00:00Z'))).toBeDefined()
    expect(performance.now() - before).toBeLessThan(5_000)
  })

  it('knows the zones of the database, and no others', () => {
    expect(zoneProblem({ timeZone: 'Europe/Berlin' })).toBeUndefined()
    expect(zoneProblem({ timeZone: 'NodeLocal' })).toBeUndefined()
    expect(zoneProblem({ timeZone: 'Europe/Atlantis' })).toContain('use a name of the IANA database')
  })

  it('is that of each node where it says NodeLocal', () => {
    expect(zoneOf({ timeZone: 'NodeLocal' }, 'Asia/Tokyo')).toBe('Asia/Tokyo')
    expect(zoneOf({ timeZone: 'NodeLocal' }, 'no zone')).toBe('UTC')
    expect(zoneOf({ timeZone: 'NodeLocal' }, undefined)).toBe('UTC')
    expect(zoneOf({}, 'Asia/Tokyo')).toBe('UTC')
  })

  it('stays as it is until the moment that it names', () => {
    const slot = fc.record({
      start: fc
        .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
        .map(([h, m]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`),
      durationMinutes: fc.integer({ min: 1, max: 400 }),
      days: fc.subarray(['Mon', 'Wed', 'Sun'] as const).map((days) => [...days]),
    })
    const zone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC')
    const moment = fc.integer({ min: ms('2026-01-01T00:00Z'), max: ms('2027-01-01T00:00Z') })
    fc.assert(
      fc.property(
        fc.array(slot, { minLength: 1, maxLength: 3 }),
        zone,
        moment,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (slots, name, now, part) => {
          const { isOpen, until = now } = windowAt({ slots }, name, now)
          expect(until).toBeGreaterThan(now)
          const between = Math.floor(now + (until - now) * part)
          expect(windowAt({ slots, blackouts: [] }, name, between).isOpen).toBe(isOpen)
          expect(windowAt({ slots, blackouts: [] }, name, until).isOpen).toBe(!isOpen)
        },
      ),
      { numRuns: 60 },
    )
  })
})
