import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '@upgrade-hub/core'
import {
  type Absent,
  type Binaries,
  cacheFolder,
  findBinaries,
  isProgram,
  KUBERNETES_VERSION,
  pathOf,
  RECIPES,
  type Recipe,
} from './binaries.ts'
import { type BuildOptions, compile, goVersion } from './compile.ts'
import { withBuildLock } from './lock.ts'

/**
 * The real control plane's programs: found, or built from the pinned Go modules (about fifteen minutes on two cores,
 * once per machine). Answers with the reason, and does not throw, when this machine can do neither.
 */
export async function ensureBinaries(options: BuildOptions): Promise<Binaries | Absent> {
  const { env, say } = options
  const found = findBinaries(env)
  if (!('absent' in found) || found.absent === 'wrongAssets') return found
  const go = await goVersion(env)
  if (go === undefined) {
    const reason = 'neither Go (to build it) nor KUBEBUILDER_ASSETS (ready programs) is there'
    return { absent: 'noGo', reason }
  }
  say(`Building Kubernetes ${KUBERNETES_VERSION} with ${go}: about 15 minutes, once per machine`)
  try {
    await buildAll(options)
  } catch (error) {
    return { absent: 'buildFailed', reason: `building it failed: ${messageOf(error)}` }
  }
  return findBinaries(env)
}

async function buildAll(options: BuildOptions): Promise<void> {
  const folder = cacheFolder(options.env)
  mkdirSync(folder, { recursive: true })
  await withBuildLock(join(folder, '.lock'), options.say, async (touch) => {
    const say = (line: string) => {
      touch()
      options.say(line)
    }
    for (const recipe of RECIPES) await buildOne(recipe, { ...options, say })
  })
}

/** A program appears under its name whole or not at all, so an interrupted build is never taken for a finished one. */
async function buildOne(recipe: Recipe, options: BuildOptions): Promise<void> {
  const target = pathOf(recipe.name, options.env)
  if (isProgram(target)) return
  const unfinished = `${target}.${process.pid}.tmp`
  try {
    await compile(recipe, unfinished, options)
    renameSync(unfinished, target)
  } finally {
    rmSync(unfinished, { force: true })
  }
}

if (import.meta.main) {
  const result = await ensureBinaries({ env: process.env, say: (line) => console.error(line) })
  if ('absent' in result) {
    console.error(`No real control plane: ${result.reason}`)
    process.exitCode = 1
  } else {
    console.log(Object.values(result).join('\n'))
  }
}
