/** Control characters (but tab and line feed) could steer a terminal that prints a status. */
const CONTROL = /(?![\t\n])\p{Cc}/gu

/** The text as it may be stored: at most `max` characters, well formed, no control characters but tab and line feed. */
export function clean(text: string | undefined, max: number): string {
  return (text ?? '').replace(CONTROL, ' ').slice(0, max).toWellFormed()
}

/** The same, keeping the end, where a log says why. */
export function cleanTail(text: string, max: number): string {
  return text.replace(CONTROL, ' ').slice(-max).toWellFormed()
}
