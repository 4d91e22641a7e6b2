import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, sourcesOf, withoutComments, workspaces } from './sources.ts'

const sources = workspaces.flatMap((workspace) => workspace.sources)
const shipped = sources.filter(({ isTest }) => !isTest)
const everything = [...sources, ...sourcesOf('test/**/*.ts')]
const pages = globSync(['*.md', 'docs/**/*.md', 'manifests/**/*.yaml', 'apps/*/bin/*'], { cwd: ROOT })
const ownPath = 'test/architecture/habits.test.ts'

function texts(): { path: string; text: string }[] {
  const files = pages.map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
  return [...everything, ...files].filter(({ path }) => path !== ownPath)
}

function lines(pattern: RegExp, of: readonly { path: string; text: string }[] = texts()): string[] {
  return of.flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
}

/** Code that is allowed a habit because it is the place for it. */
function outside(allowed: RegExp): { path: string; text: string }[] {
  return shipped
    .filter(({ path }) => !allowed.test(path))
    .map(({ path, text }) => ({ path, text: withoutComments(text) }))
}

describe('files', () => {
  it('are named in kebab-case', () => {
    expect(
      everything
        .map(({ path }) => path)
        .filter((path) => !/^[a-z0-9-]+(\.component)?(\.test|\.d|\.config)?\.ts$/.test(basename(path))),
    ).toEqual([])
  })
})

describe('habits', () => {
  it('leave no loose end in a comment', () => {
    expect(lines(/\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([])
  })

  it('take time from the Clock only, so that tests can own it', () => {
    const clocks = /packages\/core\/src\/clock\.ts$|^apps\/demo\/|packages\/testkit\//
    expect(
      lines(/(?<![.\w])(setTimeout|setInterval)\(|\bDate\.now\(\)|node:timers/, outside(clocks)),
    ).toEqual([])
  })

  it('read the environment in config files and mains only', () => {
    expect(
      lines(/process\.env\b/, outside(/\/(config|environment)(\/|[\w-]*\.ts$)|\/main\.ts$|^apps\/demo\//)),
    ).toEqual([])
  })

  it('write to the console in mains only', () => {
    expect(lines(/\bconsole\.\w+\(/, outside(/\/main\.ts$|\/generate\.ts$|^apps\/demo\//))).toEqual([])
  })

  it('leave the end of the process to mains', () => {
    expect(lines(/process\.exit\(/, outside(/\/main\.ts$/))).toEqual([])
  })

  it('keep the type checker awake', () => {
    expect(
      lines(
        /\bas any\b|: any\b|@ts-(ignore|nocheck|expect-error)|eslint-disable|oxlint-disable(?!-next-line [\w/-]+ -- \w)/,
      ),
    ).toEqual([])
  })

  it('have no test that is switched off or runs alone', () => {
    expect(lines(/\b(it|test|describe)\.(only|todo)\b|\b(it|test)\.skip\(/)).toEqual([])
  })
})
