/** When to look again: the earliest of some times, those that are none apart. */
export function earliest(times: readonly (number | undefined)[]): { wakeAt?: number } {
  const known = times.filter((time) => time !== undefined)
  return known.length > 0 ? { wakeAt: Math.min(...known) } : {}
}
