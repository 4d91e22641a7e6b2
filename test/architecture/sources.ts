import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Import {
  /** As written: `ws`, `node:fs`, `@upgrade-hub/core/testing`, `./x.ts` */
  readonly specifier: string
  readonly isType: boolean
}

export interface Source {
  /** From the root: `packages/core/src/clock.ts` */
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
  /** Tests and what only tests import. */
  readonly isTest: boolean
}

export interface Workspace {
  /** `core`, `cloudhub` */
  readonly name: string
  readonly isApp: boolean
  readonly dependencies: readonly string[]
  readonly sources: readonly Source[]
}

export const workspaces: readonly Workspace[] = ['packages', 'apps'].flatMap((parent) =>
  globSync(`${parent}/*/package.json`, { cwd: ROOT })
    .toSorted()
    .map((file) => {
      const folder = join(file, '..')
      const manifest = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as {
        dependencies?: Record<string, string>
      }
      return {
        name: relative(parent, folder),
        isApp: parent === 'apps',
        dependencies: Object.keys(manifest.dependencies ?? {}),
        sources: sourcesOf(`${folder}/src/**/*.ts`),
      }
    }),
)

export function sourcesOf(pattern: string): Source[] {
  return globSync(pattern, { cwd: ROOT, exclude: (path) => path.includes('node_modules') })
    .toSorted()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8')
      return { path, text, imports: importsOf(text), isTest: /\.test\.ts$|\/testing\/|^test\//.test(path) }
    })
}

/** Every static and dynamic import and re-export, by the shape the formatter gives them. */
export function importsOf(text: string): Import[] {
  const code = withoutComments(text)
  const statics = code.matchAll(/^(?:import|export)\s+(type\s)?(?:[\w*{][^'"()]*?\sfrom\s+)?'([^']+)'/gm)
  const dynamics = code.matchAll(/\bimport\(\s*'([^']+)'\s*\)/g)
  return [
    ...Array.from(statics, ([statement, type, specifier = '']) => ({
      specifier,
      isType: type !== undefined || onlyTypes(statement),
    })),
    ...Array.from(dynamics, ([, specifier = '']) => ({ specifier, isType: false })),
  ]
}

/** `import { type A, type B } from 'x'` */
function onlyTypes(statement: string): boolean {
  const names = statement
    .match(/\{([^}]*)\}/)?.[1]
    ?.split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  return names !== undefined && names.length > 0 && names.every((name) => name.startsWith('type '))
}

/** Line and block comments; a `//` inside of a string (a URL) stays, because a space or the line's start must be before it. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

/** The npm package or `node:` module of a specifier; undefined for a relative one. */
export function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('.')) return undefined
  if (specifier.startsWith('node:')) return specifier
  const [scope = '', name = ''] = specifier.split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}

/** `core` for `@upgrade-hub/core/testing`. */
export function siblingOf(specifier: string): string | undefined {
  return specifier.match(/^@upgrade-hub\/([^/]+)/)?.[1]
}
