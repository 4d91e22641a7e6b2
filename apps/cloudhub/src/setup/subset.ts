/** True when everything in `wanted` is in `stored`, which may hold more keys: what a server fills in by itself. */
export function isSubset(wanted: unknown, stored: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(stored) &&
      wanted.length === stored.length &&
      wanted.every((v, i) => isSubset(v, stored[i]))
    )
  }
  if (typeof wanted !== 'object' || wanted === null) return wanted === stored
  if (typeof stored !== 'object' || stored === null) return false
  return Object.entries(wanted).every(
    ([key, value]) => value === undefined || isSubset(value, (stored as Record<string, unknown>)[key]),
  )
}
