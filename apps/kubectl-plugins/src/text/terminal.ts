import { styleText } from 'node:util'

export type Color = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold'

/** Where the plugins write. */
export interface Terminal {
  /** A person looks: lines may be painted over, in colours. */
  readonly isLive: boolean
  /** Characters beyond ASCII can be shown. */
  readonly isUnicode: boolean
  size(): { readonly columns: number; readonly rows: number }
  /** Whole lines to standard output. */
  print(text: string): void
  /** As it is, for painting over. */
  write(text: string): void
  error(text: string): void
  paint(color: Color, text: string): string
}

interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  write(text: string): boolean
}

export interface TerminalOptions {
  readonly out: Stream
  readonly err: Stream
  /** `NO_COLOR` is set, or the terminal is dumb. */
  readonly isPlain: boolean
  readonly isUnicode: boolean
}

/** The terminal of this process. */
export function terminalOf({ out, err, isPlain, isUnicode }: TerminalOptions): Terminal {
  const isLive = out.isTTY === true
  return {
    isLive,
    isUnicode,
    // A serial line is a terminal that says 0.
    size: () => ({ columns: out.columns || 120, rows: out.rows || 40 }),
    print: (text) => void out.write(`${text}\n`),
    write: (text) => void out.write(text),
    error: (text) => void err.write(`${text}\n`),
    paint: (color, text) => (isLive && !isPlain ? styleText(color, text, { validateStream: false }) : text),
  }
}
