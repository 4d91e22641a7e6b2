const FULL = '█'
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** A progress bar of so many columns; `share` is from 0 to 1. A bar is full only at 1. */
export function bar(share: number, columns: number, isUnicode: boolean): string {
  const filled = Math.min(1, Math.max(0, share)) * columns
  const whole = Math.floor(filled)
  if (!isUnicode) return `[${'#'.repeat(whole)}${'.'.repeat(columns - whole)}]`
  const part = PARTS[Math.floor((filled - whole) * PARTS.length)] ?? ''
  return `${FULL.repeat(whole)}${part}${'░'.repeat(columns - whole - part.length)}`
}
