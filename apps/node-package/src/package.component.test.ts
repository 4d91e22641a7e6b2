import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { EDGE_VERSION } from '@upgrade-hub/upgrader'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle, packageFolder } from './bundle.ts'
import { makePackage, type NodePackage } from './package.ts'

const run = promisify(execFile)
const HOME = 'usr/local/lib/upgrade-hub'

describe('the archive for a node', { timeout: 120_000 }, () => {
  let folder: string
  let made: NodePackage
  let names: string[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'node-package-'))
    made = await makePackage({ into: join(folder, 'dist'), node: process.execPath })
    await run('tar', ['-C', folder, '-xzf', made.archive])
    names = (await run('tar', ['-tzf', made.archive])).stdout.trim().split('\n')
  }, 120_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('holds one file a program, the Node that runs them, and the licences, and touches no folder', () => {
    const own = `${HOME}/${made.version}`
    expect(names.filter((name) => !name.includes('/licences/'))).toEqual([
      'usr/local/bin/edgeadm',
      `${own}/LICENSE`,
      `${own}/bin/node`,
      `${own}/edgeadm.cjs`,
      `${own}/edgehub.cjs`,
    ])
    expect(names).toContain(`${own}/licences/node.txt`)
    expect(names).toContain(`${own}/licences/ws.txt`)
    expect(names.filter((name) => name.endsWith('/'))).toEqual([])
    expect(new Set(names).size).toBe(names.length)
  })

  it('says its own digest and is of the version that edgehub tells the hub', async () => {
    const sha256 = createHash('sha256')
      .update(await readFile(made.archive))
      .digest('hex')
    expect(made.sha256).toBe(sha256)
    expect(made.version).toBe(EDGE_VERSION)
  })

  it('runs without anything else of this repository', async () => {
    const at = (name: string) => join(folder, HOME, made.version, name)
    const ask = async (...args: string[]) => (await run(at('bin/node'), args, { cwd: '/', env: {} })).stdout
    expect(await ask(at('edgehub.cjs'), '--version')).toBe(`${EDGE_VERSION}\n`)
    expect(await ask(at('edgeadm.cjs'), '--version')).toBe(`${EDGE_VERSION}\n`)
    expect(await ask(at('edgeadm.cjs'), '--help')).toContain('upgrade edge')
  })
})

describe('a bundle', () => {
  it('is the same bytes each time, begins with the Node that runs it, and names the packages in it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bundle-'))
    const entry = fileURLToPath(new URL('../../edgehub/src/main.ts', import.meta.url))
    const make = async (name: string) => {
      const outfile = join(folder, name)
      const packages = await bundle({ entry, outfile, node: '/opt/node' })
      return { packages, text: await readFile(outfile, 'utf8') }
    }
    const [one, two] = [await make('one.cjs'), await make('two.cjs')]
    await rm(folder, { recursive: true })
    expect(one).toEqual(two)
    expect(one.text.startsWith('#!/opt/node\n')).toBe(true)
    expect(one.packages).toContain('node_modules/ws')
  })

  it.each([
    ['../../node_modules/ws/lib/x.js', '../../node_modules/ws'],
    ['node_modules/@a/b/c.js', 'node_modules/@a/b'],
    ['node_modules/a/node_modules/b/c.js', 'node_modules/a/node_modules/b'],
    ['apps/edgehub/src/main.ts', undefined],
  ])('has %s from %s', (path, folder) => {
    expect(packageFolder(path)).toBe(folder)
  })
})
