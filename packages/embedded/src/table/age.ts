const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const YEAR = 365 * DAY

/** A duration as kubectl shows it: 95s, 5m30s, 3h, 2d5h, 3y100d (k8s.io/apimachinery/pkg/util/duration). */
export function humanDuration(ms: number): string {
  if (ms < -2 * SECOND) return '<invalid>'
  if (ms < 0) return '0s'
  const of = (unit: number, within?: number) => Math.floor((within === undefined ? ms : ms % within) / unit)
  if (ms < 2 * MINUTE) return `${of(SECOND)}s`
  if (ms < 10 * MINUTE) return pair(of(MINUTE), 'm', of(SECOND, MINUTE), 's')
  if (ms < 3 * HOUR) return `${of(MINUTE)}m`
  if (ms < 8 * HOUR) return pair(of(HOUR), 'h', of(MINUTE, HOUR), 'm')
  if (ms < 2 * DAY) return `${of(HOUR)}h`
  if (ms < 8 * DAY) return pair(of(DAY), 'd', of(HOUR, DAY), 'h')
  if (ms < 2 * YEAR) return `${of(DAY)}d`
  if (ms < 8 * YEAR) return pair(of(YEAR), 'y', of(DAY, YEAR), 'd')
  return `${of(YEAR)}y`
}

function pair(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`
}

/** How long ago an RFC 3339 time was; `<unknown>` for what is none. */
export function ageOf(time: unknown, now: number): string {
  const at = typeof time === 'string' ? Date.parse(time) : Number.NaN
  return Number.isNaN(at) ? '<unknown>' : humanDuration(now - at)
}
