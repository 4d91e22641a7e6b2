import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type BinaryName, cacheFolder, findBinaries, RECIPES } from './binaries.ts'
import { ensureBinaries } from './build.ts'

let home: string
let said: string[]
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'controlplane-'))
  said = []
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const say = (line: string) => void said.push(line)
const NAMES = RECIPES.map(({ name }) => name)

function program(path: string, text = ''): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

function assets(...names: BinaryName[]): string {
  const folder = join(home, 'assets')
  for (const name of names) program(join(folder, name))
  return folder
}

/** A stand-in for Go that writes a program where it is told to, after `text`. */
function environment(text = '') {
  const script = `[ "$1" = env ] && echo go1.99 && exit; ${text}
while [ "$1" != -o ]; do shift; done; echo built > "$2"; chmod +x "$2"; echo "$2" >> ${home}/built`
  program(join(home, 'bin', 'go'), script)
  return { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin` }
}

describe('the real control plane', () => {
  it('is built once, program by program, and found from then on', async () => {
    const env = environment()
    const built = await ensureBinaries({ env, say })
    expect(built).toEqual(Object.fromEntries(NAMES.map((name) => [name, join(cacheFolder(env), name)])))
    expect(said.filter((line) => line.includes('done'))).toHaveLength(NAMES.length)
    said = []
    expect(await ensureBinaries({ env, say })).toEqual(built)
    expect(said).toEqual([])
  })

  it('leaves nothing that looks like a program when a build fails, and says why', async () => {
    const env = environment('echo "no such module" >&2; exit 1;')
    expect(await ensureBinaries({ env, say })).toEqual({
      absent: 'buildFailed',
      reason: 'building it failed: go build go.etcd.io/etcd/server/v3: no such module',
    })
    expect(readdirSync(cacheFolder(env))).toEqual([])
  })

  it('goes on after an interrupted build with what was finished', async () => {
    const env = environment()
    program(join(cacheFolder(env), 'etcd'))
    await ensureBinaries({ env, say })
    expect(said.some((line) => line.includes('etcd: done'))).toBe(false)
  })

  it('is built by one of two at a time', async () => {
    const env = environment('mkdir "$HOME/busy" || exit 9; trap "rmdir $HOME/busy" EXIT;')
    const both = await Promise.all([ensureBinaries({ env, say }), ensureBinaries({ env, say })])
    expect(both.map((one) => 'absent' in one)).toEqual([false, false])
    expect(said).toContain('Another process is building: waiting for it')
  })

  it('can be interrupted, and leaves nothing unfinished', async () => {
    const env = environment('echo compiling >&2; sleep 60;')
    const interrupt = new AbortController()
    const building = ensureBinaries({ env, say, signal: interrupt.signal })
    interrupt.abort()
    expect(await building).toMatchObject({ absent: 'buildFailed' })
    expect(readdirSync(cacheFolder(env))).toEqual([])
  })

  it('takes over from a builder that died', async () => {
    const env = environment()
    mkdirSync(cacheFolder(env), { recursive: true })
    writeFileSync(join(cacheFolder(env), '.lock'), '4194999')
    expect(await ensureBinaries({ env, say })).not.toHaveProperty('absent')
  })

  it('is absent without Go and without ready programs', async () => {
    const env = { HOME: home, PATH: join(home, 'nothing') }
    expect(await ensureBinaries({ env, say })).toMatchObject({ absent: 'noGo' })
  })

  it('is taken from KUBEBUILDER_ASSETS first, all but the controller manager, which is never in it', () => {
    const folder = assets('etcd', 'kube-apiserver', 'kubectl')
    const env = { ...environment(), KUBEBUILDER_ASSETS: folder }
    program(join(cacheFolder(env), 'etcd'))
    program(join(cacheFolder(env), 'kube-controller-manager'))
    expect(findBinaries(env)).toEqual({
      etcd: join(folder, 'etcd'),
      'kube-apiserver': join(folder, 'kube-apiserver'),
      kubectl: join(folder, 'kubectl'),
      'kube-controller-manager': join(cacheFolder(env), 'kube-controller-manager'),
    })
  })

  it('does not replace wrong KUBEBUILDER_ASSETS in silence', async () => {
    const env = { ...environment(), KUBEBUILDER_ASSETS: assets('etcd') }
    expect(await ensureBinaries({ env, say })).toEqual({
      absent: 'wrongAssets',
      reason: `KUBEBUILDER_ASSETS=${join(home, 'assets')} lacks kube-apiserver, kubectl`,
    })
  })
})
