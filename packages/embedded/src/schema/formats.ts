import { isIPv4, isIPv6 } from 'node:net'

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(z|[+-]\d{2}:\d{2})$/
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const DURATION_UNITS = /^[+-]?(\d+(\.\d*)?|\.\d+)\s*(ns|us|µs|ms|s|m|h|d|w)\s*/

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return false
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

function isDateTime(text: string): boolean {
  const [date = '', time = '', ...rest] = text.toLowerCase().split('t')
  return rest.length === 0 && isDate(date) && TIME.test(time)
}

function isDuration(text: string): boolean {
  let rest = text
  do {
    const part = DURATION_UNITS.exec(rest)
    if (part === null) return text === '0'
    rest = rest.slice(part[0].length)
  } while (rest !== '')
  return true
}

const CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  datetime: isDateTime,
  duration: isDuration,
  uuid: (text) => UUID.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  byte: (text) => BASE64.test(text),
}

/** Whether texts are held against a format at all. */
export function isKnownFormat(format: string): boolean {
  return Object.hasOwn(CHECKS, format.replaceAll('-', ''))
}

/**
 * Whether a text has the format; undefined for a format that is not checked. The names come with or without dashes
 * (`date-time`), as go-openapi reads them.
 */
export function hasFormat(format: string, text: string): boolean | undefined {
  const name = format.replaceAll('-', '')
  return Object.hasOwn(CHECKS, name) ? CHECKS[name]?.(text) : undefined
}
