import { RE2JS } from '@bufbuild/re2'

/** Patterns come from CRDs, which are few; what is beyond is compiled again rather than kept. */
const CACHE_LIMIT = 1000
const cache = new Map<string, RE2JS>()

/**
 * A compiled RE2 pattern: linear time whatever the text, as in the API server. Throws where the pattern is no RE2.
 */
export function compilePattern(pattern: string): RE2JS {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  const compiled = new RE2JS(pattern)
  if (cache.size < CACHE_LIMIT) cache.set(pattern, compiled)
  return compiled
}

/** Whether the pattern matches anywhere in the text. Throws where the pattern is no RE2. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compilePattern(pattern).test(text)
}
