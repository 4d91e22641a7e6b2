/** Everything a terminal would obey: C0 but newline and tab, DEL, C1, and the marks that turn text around. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu

/** Text of whatever origin, safe to print: nodes and other controllers choose words that end up on a person's terminal. */
export function clean(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSAFE, '\ufffd')
}

/** The same on one line, at most `length` characters. */
export function cleanLine(text: string, length = 200): string {
  const line = clean(text).replace(/\s+/g, ' ').trim()
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`
}
