import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

export interface BundleOptions {
  readonly entry: string
  readonly outfile: string
  /** Absolute path, on the node, of what runs it: its first line. */
  readonly node: string
}

/**
 * Makes one file of a program and everything that it imports; names of functions and lines stay, so that a stack trace
 * from the field can be read. A warning of the bundler is an error.
 * @returns the folders of the npm packages that are in it
 */
export async function bundle({ entry, outfile, node }: BundleOptions): Promise<readonly string[]> {
  const { metafile, warnings } = await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    metafile: true,
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    banner: { js: `#!${node}` },
    logLevel: 'error',
  })
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join('\n'))
  await chmod(outfile, 0o755)
  const folders = Object.keys(metafile.inputs).map(packageFolder)
  return [...new Set(folders.filter((folder) => folder !== undefined))].toSorted()
}

/** `node_modules/@scope/name` of a file of a package, however deep; undefined for our own sources. */
export function packageFolder(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]
}

/**
 * Copies the licence of every package; one that brings no file is named with what its package.json says.
 * @returns the paths of the copies
 */
export async function copyLicences(packages: readonly string[], folder: string): Promise<readonly string[]> {
  const paths: string[] = []
  for (const from of packages) {
    const path = join(folder, `${from.replace(/^.*?node_modules\//, '').replaceAll('/', '_')}.txt`)
    await mkdir(folder, { recursive: true })
    await writeFile(path, await licenceOf(from))
    paths.push(path)
  }
  return paths
}

async function licenceOf(folder: string): Promise<string> {
  const file = (await readdir(folder)).find((name) => /^licen[cs]e/i.test(name))
  if (file) return readFile(join(folder, file), 'utf8')
  const { name, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string
    license?: string
  }
  if (!license) throw new Error(`${name} does not say its licence`)
  return `${name}: ${license}\n`
}
