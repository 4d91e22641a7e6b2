/** What the environment says of the terminal; read here and nowhere else. */
export interface Environment {
  readonly isPlain: boolean
  readonly isUnicode: boolean
}

export function readEnvironment(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Environment {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  return {
    isPlain: Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb',
    isUnicode: /utf-?8/i.test(locale),
  }
}
