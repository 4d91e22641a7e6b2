import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../apps/demo/bin/ensure-install.mjs', import.meta.url))
const LOCK = {
  packages: {
    '': { version: '1.0.0' },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/other-platform': { version: '1.0.0', optional: true },
  },
}

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ensure-install-'))
  mkdirSync(join(root, 'apps/demo/bin'), { recursive: true })
  cpSync(SCRIPT, join(root, 'apps/demo/bin/ensure-install.mjs'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, content: unknown): void {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content))
}

/** A stand-in for npm that notes how it was called and then does `effect`. */
function run(effect = ''): { status: number | null; stderr: string; npm: string[] | undefined } {
  const called = join(root, 'called.json')
  write(
    'npm.js',
    `const fs = require('fs'); fs.writeFileSync('called.json', JSON.stringify(process.argv.slice(2)));${effect}`,
  )
  const result = spawnSync(process.execPath, [join(root, 'apps/demo/bin/ensure-install.mjs')], {
    env: { npm_execpath: join(root, 'npm.js') },
    encoding: 'utf8',
  })
  const npm = existsSync(called) ? (JSON.parse(readFileSync(called, 'utf8')) as string[]) : undefined
  return { status: result.status, stderr: result.stderr, npm }
}

const INSTALLS = `fs.mkdirSync('node_modules', { recursive: true }); fs.copyFileSync('package-lock.json', 'node_modules/.package-lock.json')`

describe('ensure-install', () => {
  it('does nothing when node_modules is what the lock says, packages of other platforms apart', () => {
    write('package-lock.json', LOCK)
    write('node_modules/.package-lock.json', {
      packages: { 'node_modules/a': LOCK.packages['node_modules/a'] },
    })
    expect(run()).toEqual({ status: 0, stderr: '', npm: undefined })
  })

  it('runs npm ci, without install scripts and with optional packages, when nothing is installed', () => {
    write('package-lock.json', LOCK)
    const { status, stderr, npm } = run(INSTALLS)
    expect(status).toBe(0)
    expect(stderr).toContain('nothing is installed yet')
    expect(npm).toEqual(['ci', '--ignore-scripts', '--include=optional', '--include=dev', '--loglevel=error'])
  })

  it.each([
    ['another version', { version: '2.0.0', integrity: 'sha512-a' }],
    ['other content', { version: '1.0.0', integrity: 'sha512-b' }],
  ])('runs npm ci when a package has %s', (_what, entry) => {
    write('package-lock.json', LOCK)
    write('node_modules/.package-lock.json', { packages: { 'node_modules/a': entry } })
    expect(run(INSTALLS).npm).toBeDefined()
  })

  it('runs npm ci again when the last one was interrupted and left a damaged record', () => {
    write('package-lock.json', LOCK)
    write('node_modules/.package-lock.json', '{"packages":')
    expect(run(INSTALLS).npm).toBeDefined()
  })

  it('says that npm failed and fails itself', () => {
    write('package-lock.json', LOCK)
    const { status, stderr } = run('process.exitCode = 7')
    expect(status).toBe(1)
    expect(stderr).toContain('npm ci ended with code 7')
  })

  it('fails when npm claims success and a package is still missing', () => {
    write('package-lock.json', LOCK)
    const { status, stderr } = run()
    expect(status).toBe(1)
    expect(stderr).toContain('although npm ci succeeded')
  })

  it('says that the lock is missing instead of installing something else', () => {
    const { status, stderr, npm } = run()
    expect(status).toBe(1)
    expect(stderr).toContain('package-lock.json is missing')
    expect(npm).toBeUndefined()
  })
})
