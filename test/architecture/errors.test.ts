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

/** What peers are answered: literals beside their HTTP status. */
const answered = new Set(
  [
    /new HttpError\(\s*\d{3},\s*'([A-Z_]+)'/g,
    /\bstatus: \d{3},\s*code: '([A-Z_]+)'/g,
    /'([A-Z_]+)':\s*return new HttpError/g,
  ].flatMap((pattern) => found(shipped, pattern)),
)

const [inLogs = '', inAnswers = ''] = (existsSync(page) ? readFileSync(page, 'utf8') : '').split(
  '## In answers',
)

function listed(section: string): string[] {
  return Array.from(section.matchAll(/^\| `([A-Z0-9_]+)` \|/gm), ([, code = '']) => code)
}

describe('coded errors', () => {
  it('are declared in a file errors.ts each, so that their codes are found', () => {
    const strays = shipped.filter(
      ({ path, text }) => /extends HubError\b/.test(text) && !path.endsWith('/errors.ts'),
    )
    expect(strays.map(({ path }) => path)).toEqual([])
  })

  it('are what docs/errors.md lists, each once, in order', () => {
    expect([...thrown].toSorted()).toEqual(listed(inLogs))
  })
})

describe('the codes of answers', () => {
  it('are explained in docs/errors.md, once each', () => {
    const explained = listed(inAnswers)
    expect([...answered].filter((code) => !explained.includes(code))).toEqual([])
    expect(explained).toEqual([...new Set(explained)])
  })

  it('that docs/errors.md explains are given by the code', () => {
    const given = new Set(found(shipped, /'([A-Z][A-Z_]+)'/g))
    expect(listed(inAnswers).filter((code) => !given.has(code))).toEqual([])
  })
})
