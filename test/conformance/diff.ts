type Fields = Readonly<Record<string, unknown>>

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const shown = (value: unknown) =>
  value === undefined ? 'absent' : (JSON.stringify(value) ?? 'absent').slice(0, 300)

/** Every place where two answers differ, one line each: where, what the real API server says, what the embedded says. */
export function differences(real: unknown, embedded: unknown, path = ''): readonly string[] {
  if (Array.isArray(real) && Array.isArray(embedded) && real.length === embedded.length) {
    return real.flatMap((item, i) => differences(item, embedded[i], `${path}[${i}]`))
  }
  if (isFields(real) && isFields(embedded)) {
    const keys = [...new Set([...Object.keys(real), ...Object.keys(embedded)])]
    return keys.flatMap((key) => differences(real[key], embedded[key], `${path}.${key}`))
  }
  if (JSON.stringify(real) === JSON.stringify(embedded)) return []
  return [`${path}: real ${shown(real)}, embedded ${shown(embedded)}`]
}
