import type { Amount } from '@upgrade-hub/api'

/**
 * How many of `total` nodes an amount is: a number as it stands, a percentage rounded down and at least 1, so that a small
 * fleet moves too. 0 stays 0.
 */
export function amountOf(amount: Amount, total: number): number {
  return typeof amount === 'number' ? amount : Math.max(1, Math.floor((percentOf(amount) * total) / 100))
}

/** The number before the sign; 0 for what is no percentage. */
function percentOf(text: string): number {
  return /^\d{1,3}%$/.test(text) ? Number(text.slice(0, -1)) : 0
}
