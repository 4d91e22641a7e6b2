/** A span as kubectl shows ages: `45s`, `3m20s`, `2h5m`, `3d4h`; nothing below zero. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return join(`${minutes}m`, seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 10) return join(`${hours}h`, minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  return days < 8 ? join(`${days}d`, hours % 24, 'h') : `${days}d`
}

/** The span since a stored time; empty for none. */
export function ageOf(time: string | undefined, now: number): string {
  const at = Date.parse(time ?? '')
  return Number.isNaN(at) ? '' : span(now - at)
}

function join(large: string, rest: number, unit: string): string {
  return rest === 0 ? large : `${large}${rest}${unit}`
}
