import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, type Source, sourcesOf, withoutComments, workspaces } from './sources.ts'

const all = [...workspaces.flatMap(({ sources }) => sources), ...sourcesOf('test/**/*.ts')]
const shipped = all.filter(({ isTest }) => !isTest)

/** `path:line text` of every line that matches, so that a failure shows what to mend. */
function hits(sources: readonly Source[], pattern: RegExp): string[] {
  return sources.flatMap(({ path, text }) =>
    withoutComments(text)
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
}

describe('no shell, anywhere (S41)', () => {
  const programs = all.filter(({ path }) => path !== 'test/architecture/safety.test.ts')

  it('is spawned by an option or by the functions of child_process that start one', () => {
    expect(hits(programs, /\bshell\s*:\s*(?!false)/)).toEqual([])
    expect(hits(programs, /(?<![.\w])exec(Sync)?\(/)).toEqual([])
    expect(
      hits(programs, /\bimport\b.*\bexec(Sync)?\b.*child_process|child_process\.exec\b|promisify\(exec\b/),
    ).toEqual([])
  })

  it('is spawned by name', () => {
    expect(
      hits(
        programs,
        /\b(?:spawn|spawnSync|execFile|execFileSync|fork)\(\s*['"`](?:\/usr)?(?:\/bin\/)?(?:ba|da|z|k)?sh['"`]/,
      ),
    ).toEqual([])
    expect(
      hits(programs, /['"](?:\/usr)?(?:\/bin\/)?(?:ba|da|z|k)?sh['"]\s*,\s*\[?\s*['"]-[a-z]*c['"]/),
    ).toEqual([])
  })

  it('gets a program or argument put together as text', () => {
    expect(hits(shipped, /\b(?:spawn|spawnSync|execFile|execFileSync)\(\s*`[^`]*\$\{/)).toEqual([])
  })
})

describe('the supply chain (S46)', () => {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(lock) as {
    packages: Record<
      string,
      { integrity?: string; link?: boolean; hasInstallScript?: boolean; version?: string }
    >
  }
  const fromRegistry = Object.entries(packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && !link,
  )

  it('has no download host in the lock', () => {
    expect(lock).not.toContain('"resolved": "http')
  })

  it('has a hash for every package of the lock', () => {
    expect(fromRegistry.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([])
  })

  it('needs no install script: the one package that has one works without it', () => {
    const scripted = fromRegistry.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)
    expect(scripted.filter((path) => !/(^|\/)node_modules\/(esbuild|fsevents)$/.test(path))).toEqual([])
  })

  it('pins every direct dependency to one version', () => {
    const manifests = ['package.json', ...globSync('{packages,apps}/*/package.json', { cwd: ROOT })]
    const loose = manifests.flatMap((file) => {
      const manifest = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Record<
        string,
        Record<string, string>
      >
      return ['dependencies', 'devDependencies', 'optionalDependencies']
        .flatMap((kind) => Object.entries(manifest[kind] ?? {}))
        .filter(([name, version]) => !name.startsWith('@upgrade-hub/') && !/^\d+\.\d+\.\d+$/.test(version))
        .map(([name, version]) => `${file}: ${name} ${version}`)
    })
    expect(loose).toEqual([])
  })

  it('stays above the floors of known vulnerabilities', () => {
    expect(atLeast(packages['node_modules/ws']?.version, [8, 21, 0])).toBe(true)
    const jsonpath = packages['node_modules/jsonpath-plus']?.version
    expect(jsonpath === undefined || atLeast(jsonpath, [10, 3, 0])).toBe(true)
  })
})

function atLeast(version: string | undefined, floor: readonly number[]): boolean {
  const parts = (version ?? '0').split('.').map(Number)
  const index = floor.findIndex((part, at) => part !== parts[at])
  return index === -1 || (parts[index] ?? 0) > (floor[index] ?? 0)
}
