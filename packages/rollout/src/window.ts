import type { MaintenanceWindow } from '@upgrade-hub/api'
import { NODE_LOCAL } from './names.ts'
import { blackoutSpans, isTimeZone, type Span, slotSpans } from './window-spans.ts'

/** How a window stands, and until when; without an end it stays so for as long as anybody looks. */
export interface WindowState {
  readonly isOpen: boolean
  readonly until?: number
}

const NEAR_DAYS = 9
/** A job whose window does not open for so long is taken for a mistake. */
const FAR_DAYS = 400
const DAY_MS = 86_400_000
const MAX_KNOWN = 256

interface Known extends WindowState {
  readonly from: number
}
const known = new Map<string, Known>()
/** Every prepared node asks at every change of its job. */
const texts = new WeakMap<MaintenanceWindow, string>()

/** Whether a window is open at a moment, API time in ms. Worked out once for as long as it stays so. */
export function windowAt(window: MaintenanceWindow, zone: string, now: number): WindowState {
  const key = `${zone} ${textOf(window)}`
  const found = known.get(key)
  if (found && found.from <= now && now < (found.until ?? found.from + DAY_MS)) return found
  const state = { ...stateAt(window, zone, now), from: now }
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, state)
  return state
}

/** The zone by which a window of a job is judged; a node's own where it says `NodeLocal` and the node has told it. */
export function zoneOf({ timeZone = 'UTC' }: MaintenanceWindow, nodeZone: string | undefined): string {
  if (timeZone !== NODE_LOCAL) return timeZone
  return nodeZone && isTimeZone(nodeZone) ? nodeZone : 'UTC'
}

/** Why a job with this window can never run; undefined when it can. */
export function neverOpens(window: MaintenanceWindow | undefined, now: number): string | undefined {
  if (!window || zoneProblem(window)) return undefined
  const { isOpen, until } = stateAt(window, zoneOf(window, undefined), now)
  if (isOpen || until !== undefined) return undefined
  return `upgradeHub.window does not open within ${FAR_DAYS} days: its blackouts cover every slot`
}

/** Why the time zone of a window is none; undefined when it is one. */
export function zoneProblem(window: MaintenanceWindow | undefined): string | undefined {
  const zone = window?.timeZone ?? 'UTC'
  if (zone === NODE_LOCAL || isTimeZone(zone)) return undefined
  return `upgradeHub.window.timeZone ${zone} is not known: use a name of the IANA database such as Europe/Berlin, or NodeLocal`
}

function textOf(window: MaintenanceWindow): string {
  const found = texts.get(window)
  if (found !== undefined) return found
  const text = JSON.stringify(window)
  texts.set(window, text)
  return text
}

function stateAt(window: MaintenanceWindow, zone: string, now: number): WindowState {
  const blackouts = blackoutSpans(window, zone)
  if (!window.slots?.length) return openBetween(blackouts, now)
  const near = lookAt({ slots: slotSpans(window, zone, now, NEAR_DAYS), blackouts }, now)
  if (near.isOpen || near.until !== undefined) return near
  return lookAt({ slots: slotSpans(window, zone, now, FAR_DAYS), blackouts }, now)
}

/** Without slots a window is open but for its blackouts. */
function openBetween(blackouts: readonly Span[], now: number): WindowState {
  return lookAt({ slots: [{ from: now, to: now + FAR_DAYS * DAY_MS }], blackouts }, now)
}

interface Spans {
  readonly slots: readonly Span[]
  readonly blackouts: readonly Span[]
}

function lookAt({ slots, blackouts }: Spans, now: number): WindowState {
  const isIn = (spans: readonly Span[], at: number) => spans.some(({ from, to }) => from <= at && at < to)
  if (isIn(slots, now) && !isIn(blackouts, now))
    return { isOpen: true, until: closeOf({ slots, blackouts }, now) }
  const begins = slots.find(({ from }) => from > now && !isIn(blackouts, from))?.from
  const ends = blackouts
    .map(({ to }) => to)
    .filter((to) => to > now && isIn(slots, to) && !isIn(blackouts, to))
  const until = Math.min(begins ?? Number.POSITIVE_INFINITY, ...ends)
  return Number.isFinite(until) ? { isOpen: false, until } : { isOpen: false }
}

/** Slots that touch are one; a blackout that begins earlier ends it earlier. */
function closeOf({ slots, blackouts }: Spans, now: number): number {
  let end = now
  for (const { from, to } of slots) if (from <= end) end = Math.max(end, to)
  return Math.min(end, ...blackouts.map(({ from }) => from).filter((from) => from > now))
}
