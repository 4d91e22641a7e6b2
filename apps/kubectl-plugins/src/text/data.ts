import type { Terminal } from './terminal.ts'

/** Prints for programs when the format asks for it; true when it did. */
export async function printData(
  terminal: Terminal,
  format: string | undefined,
  data: () => unknown,
): Promise<boolean> {
  if (format === 'json') terminal.print(JSON.stringify(data(), null, 2))
  else if (format === 'yaml') {
    // Loaded here: most runs print a table.
    const { stringify } = await import('yaml')
    terminal.print(stringify(data()).trimEnd())
  } else return false
  return true
}
