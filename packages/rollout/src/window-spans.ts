import type { MaintenanceWindow } from '@upgrade-hub/api'
import { Temporal } from 'temporal-polyfill'

/** From, included, to, excluded; API time in ms. */
export interface Span {
  readonly from: number
  readonly to: number
}

type Slot = NonNullable<MaintenanceWindow['slots']>[number]

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
/** The longest slot is a week, so that what began so long ago may still be open. */
const LOOK_BACK_DAYS = 8

/**
 * The slots of a window that begin on the days around `now` up to `daysAhead`, in the time zone's own time, in order. A start
 * that a change of the clock skips is as much later, one that comes twice is the first (RFC 5545).
 */
export function slotSpans(
  { slots = [] }: MaintenanceWindow,
  zone: string,
  now: number,
  daysAhead: number,
): Span[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate()
  const spans: Span[] = []
  for (let day = -LOOK_BACK_DAYS; day <= daysAhead; day++) {
    const date = today.add({ days: day })
    for (const slot of slots) if (beginsOn(slot, date)) spans.push(spanOf(slot, date, zone))
  }
  return spans.sort((left, right) => left.from - right.from)
}

/** The blackouts of a window. A day as the end is meant with all of it. */
export function blackoutSpans({ blackouts = [] }: MaintenanceWindow, zone: string): Span[] {
  return blackouts.map(({ from, to }) => ({ from: momentOf(from, zone), to: momentOf(to, zone, 1) }))
}

/** True for a name that the time zone database has. Every decision on a task asks, and asking the database is dear. */
export function isTimeZone(zone: string): boolean {
  const found = zones.get(zone)
  if (found !== undefined) return found
  if (zones.size >= MAX_ZONES) zones.clear()
  const is = isInDatabase(zone)
  zones.set(zone, is)
  return is
}

/** Nodes say the names of their zones, so what is remembered has a bound. */
const MAX_ZONES = 1024
const zones = new Map<string, boolean>()

function isInDatabase(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== ''
  } catch {
    return false
  }
}

function beginsOn({ days = [] }: Slot, date: Temporal.PlainDate): boolean {
  return days.length === 0 || days.some((day) => DAYS.indexOf(day) + 1 === date.dayOfWeek)
}

function spanOf({ start, durationMinutes }: Slot, date: Temporal.PlainDate, zone: string): Span {
  const from = date.toZonedDateTime({
    timeZone: zone,
    plainTime: Temporal.PlainTime.from(start),
  }).epochMilliseconds
  return { from, to: from + durationMinutes * 60_000 }
}

/** A day that no calendar has (30 February) is the last of its month. */
function momentOf(text: string, zone: string, wholeDays = 0): number {
  const [day = '', time] = text.split('T')
  const [year, month, of] = day.split('-').map(Number)
  const date = Temporal.PlainDate.from(
    { year: year ?? 1970, month: month ?? 1, day: of ?? 1 },
    { overflow: 'constrain' },
  )
  if (time)
    return date.toZonedDateTime({ timeZone: zone, plainTime: Temporal.PlainTime.from(time) })
      .epochMilliseconds
  return date.add({ days: wholeDays }).toZonedDateTime(zone).epochMilliseconds
}
