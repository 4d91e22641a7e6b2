import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, withoutComments, workspaces } from './sources.ts'

const shipped = workspaces.flatMap(({ sources }) => sources).filter(({ isTest }) => !isTest)
const errorFiles = shipped.filter(({ path }) => path.endsWith('/errors.ts'))
const page = join(ROOT, 'docs', 'errors.md')

const CODE = String.raw`'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)'`

function found(of: readonly { readonly text: string }[], pattern: RegExp): string[] {
  return of.flatMap(({ text }) =>
    Array.from(withoutComments(text).matchAll(pattern), ([, code = '']) => code),
  )
}

/** AREA_REASON: given to a constructor, or anywhere in a file errors.ts; then every other one of the same areas. */
const given = [
  ...found(shipped, new RegExp(String.raw`(?:\bsuper|\bnew \w*Error)\(\s*${CODE}`, 'g')),
  ...found(errorFiles, new RegExp(CODE, 'g')),
]
const areas = new Set(given.map(areaOf))
const thrown = new Set(found(shipped, new RegExp(CODE, 'g')).filter((code) => areas.has(areaOf(code))))

function areaOf(code: string): string | undefined {
  return code.split('_')[0]
}

const documented = Array.from(
  (existsSync(page) ? readFileSync(page, 'utf8') : '').matchAll(/^\| `([A-Z0-9_]+)` \|/gm),
  ([, code]) => code,
)

describe('coded errors', () => {
  it('are declared in a file errors.ts each, so that their codes are found', () => {
    const strays = shipped.filter(
      ({ path, text }) => /extends HubError\b/.test(text) && !path.endsWith('/errors.ts'),
    )
    expect(strays.map(({ path }) => path)).toEqual([])
  })

  it('are what docs/errors.md lists, each once, in order', () => {
    expect([...thrown].toSorted()).toEqual(documented)
  })
})
