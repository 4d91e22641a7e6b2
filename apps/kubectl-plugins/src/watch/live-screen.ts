import { cut } from '../text/table.ts'
import type { Terminal } from '../text/terminal.ts'

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_BELOW = '\r\u001b[J'

/** A part of the terminal that is painted over; what stood above it stays. */
export class LiveScreen implements Disposable {
  readonly #terminal: Terminal
  #height = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    terminal.write(HIDE_CURSOR)
  }

  /** Shows these lines instead of the last ones; what does not fit in width or height is cut off. */
  paint(lines: readonly string[]): void {
    const { columns, rows } = this.#terminal.size()
    const shown = lines.slice(0, Math.max(1, rows - 1)).map((line) => cut(line, columns))
    const up = this.#height > 0 ? `\u001b[${this.#height}A` : ''
    this.#terminal.write(`${up}${CLEAR_BELOW}${shown.join('\n')}\n`)
    this.#height = shown.length
  }

  /** Leaves the last lines where they are. */
  [Symbol.dispose](): void {
    this.#terminal.write(SHOW_CURSOR)
  }
}
