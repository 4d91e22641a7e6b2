import { stat, statfs } from 'node:fs/promises'
import { availableParallelism, cpus, freemem, totalmem } from 'node:os'
import { dirname } from 'node:path'
import { compareVersions, formatImage, parseImage } from '@upgrade-hub/core'
import type { Prepare } from '@upgrade-hub/protocol'
import type { EdgeConfig } from '../config.ts'
import { StepError } from '../errors.ts'
import { makeFolder } from '../host/durable.ts'
import type { Facts } from '../machine/state.ts'
import { probeVersion } from '../probe.ts'
import { backupsFolder, stagingFolder } from '../store/paths.ts'
import { checkTargets } from './check-targets.ts'
import type { StepContext } from './context.ts'
import { probeHealthOnce } from './health.ts'
import { hostPlatform } from './platform.ts'
import { programTargets } from './targets.ts'

/** KubeEdge's thresholds for cpu, mem and disk (edge/pkg/taskmanager, v1.21). */
const MAX_USED_PERCENT = 80
const CPU_SAMPLE_MS = 500
/** Kept free beside what the upgrade itself needs. */
const SPARE_BYTES = 16 * 1024 * 1024

/** E2: everything that can fail without touching the agent is looked at here. */
export async function precheck(context: StepContext): Promise<Facts> {
  const { component, prepare, config, service, signal } = context
  const platform = hostPlatform()
  checkImagePolicy(prepare, config)
  const problem = await service.problem()
  if (problem) throw new StepError('CheckFailed', problem)
  await checkTargets(component)
  const fromVersion = await probeVersion(component, signal)
  if (fromVersion === prepare.Version && (await probeHealthOnce(context, prepare.Version))) {
    return { fromVersion, platform, already: true, runningVersion: fromVersion }
  }
  checkVersionPolicy(prepare, config, fromVersion)
  await checkSpace(context)
  for (const item of prepare.CheckItems) await checkItem(item, context)
  return { fromVersion, platform, runningVersion: fromVersion }
}

/** Free space for staging, backup and the copy beside the target. @throws StepError NoSpace with the numbers */
export async function checkSpace({ component, config, prepare }: StepContext): Promise<void> {
  const targets = await programTargets(component)
  const programs = await sizes(targets)
  const state = await sizes([component.state.config, component.state.db].filter((path) => path !== undefined))
  const staging = stagingFolder(config, prepare.TaskUID, prepare.Attempt)
  await makeFolder(staging)
  await makeFolder(backupsFolder(config))
  await needSpace(staging, 2 * programs)
  await needSpace(backupsFolder(config), programs + state)
  for (const folder of new Set(targets.map((target) => dirname(target))))
    await needSpace(folder, 2 * programs)
}

function checkImagePolicy({ Image }: Prepare, { policy }: EdgeConfig): void {
  if (Image === '' || policy.images.length === 0) return
  const { registry, repository } = parseImage(Image)
  const name = formatImage({ registry, repository })
  const allowed = policy.images.some(
    (entry) => name === entry || name.startsWith(`${entry.replace(/\/$/, '')}/`),
  )
  if (!allowed) throw new StepError('PolicyRefused', `this node does not allow the image ${name}`)
}

function checkVersionPolicy(prepare: Prepare, { policy }: EdgeConfig, from: string): void {
  const { UpgradeTool, Version, VersionPolicy, Purpose } = prepare
  const floor = policy.downgradeFloor
  if (floor !== undefined && (compareVersions(UpgradeTool, Version, floor) ?? 0) < 0) {
    throw new StepError('Downgrade', `${Version} is below this node's floor ${floor}`)
  }
  if (Purpose === 'RollBack' || VersionPolicy === 'AllowDowngrade' || from === '') return
  if ((compareVersions(UpgradeTool, Version, from) ?? 0) < 0) {
    throw new StepError('Downgrade', `${Version} is older than ${from}`)
  }
}

async function checkItem(item: Prepare['CheckItems'][number], context: StepContext): Promise<void> {
  const used = await usedPercent(item, context)
  if (used > MAX_USED_PERCENT) {
    throw new StepError('CheckFailed', `${item} is used to ${used} %, more than ${MAX_USED_PERCENT} %`)
  }
}

async function usedPercent(item: Prepare['CheckItems'][number], context: StepContext): Promise<number> {
  switch (item) {
    case 'mem':
      return Math.round((1 - freemem() / totalmem()) * 100)
    case 'disk': {
      const { blocks, bavail } = await statfs(context.config.paths.etc)
      return blocks === 0 ? 0 : Math.round((1 - bavail / blocks) * 100)
    }
    case 'cpu': {
      const before = cpuTimes()
      await context.clock.sleep(CPU_SAMPLE_MS, context.signal)
      const after = cpuTimes()
      const all = after.all - before.all
      return all === 0 || availableParallelism() === 0
        ? 0
        : Math.round((1 - (after.idle - before.idle) / all) * 100)
    }
  }
}

function cpuTimes(): { idle: number; all: number } {
  const times = cpus().map((cpu) => cpu.times)
  const idle = times.reduce((sum, time) => sum + time.idle, 0)
  const all = times.reduce(
    (sum, { user, nice, sys, irq, idle: idling }) => sum + user + nice + sys + irq + idling,
    0,
  )
  return { idle, all }
}

async function sizes(paths: readonly string[]): Promise<number> {
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)))
  return found.reduce((sum, file) => sum + (file?.size ?? 0), 0)
}

async function needSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const need = bytes + SPARE_BYTES
  if (free < need) throw new StepError('NoSpace', `${folder} has ${free} bytes free and ${need} are needed`)
}
