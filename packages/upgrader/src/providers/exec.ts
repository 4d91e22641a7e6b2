import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '@upgrade-hub/core'
import { StepError } from '../errors.ts'
import { makeFolder, syncFile } from '../host/durable.ts'
import { fileFacts } from '../host/files.ts'
import type { StagedFile } from '../machine/state.ts'
import type { StepContext } from '../steps/context.ts'
import { hostPlatform } from '../steps/platform.ts'
import { programTargets } from '../steps/targets.ts'
import { type ExecFile, parseLine } from './exec-lines.ts'
import { progressOf } from './keadm.ts'
import type { UpgradeProvider } from './provider.ts'
import { runForLines } from './run-for-lines.ts'

/**
 * An operator's own program, named by the node's policy and never by the hub: it gets one JSON object on its standard
 * input and answers by JSON lines. What it puts down is hashed here; it says only where it is.
 */
export const exec: UpgradeProvider = {
  fetch: async (context, folder) => {
    const { config, signal, log } = context
    const [program, ...args] = config.policy.exec
    if (program === undefined) throw new StepError('UnsupportedTool', 'this node has no policy.exec')
    await rm(folder, { recursive: true, force: true })
    await makeFolder(folder)
    const progress = progressOf(context)
    let files: readonly ExecFile[] | undefined
    const onLine = (text: string) => {
      const line = parseLine(text)
      if ('error' in line) throw new StepError('PullFailed', `the program says: ${line.error}`)
      if ('progress' in line) progress(line.progress)
      if ('log' in line) log.info({ program, text: line.log }, 'said by the program')
      if ('files' in line) files = line.files
    }
    const input = JSON.stringify(await requestOf(context, folder))
    await runForLines({ program, args, input, onLine, signal }).catch((error: unknown) => {
      throw error instanceof StepError
        ? error
        : new StepError('PullFailed', messageOf(error), { cause: error })
    })
    if (!files) throw new StepError('PullFailed', 'the program ended without a line `files`')
    return { staged: await verify(files, folder, await programTargets(context.component)) }
  },
}

async function requestOf({ prepare, component }: StepContext, into: string): Promise<object> {
  const { Version, Image, ImageDigest, Purpose } = prepare
  const targets = await programTargets(component)
  return {
    v: 1,
    request: 'fetch',
    component: component.name,
    purpose: Purpose,
    version: Version,
    image: Image,
    digest: ImageDigest,
    platform: hostPlatform(),
    targets,
    into,
  }
}

/** Only regular files in the folder itself, each for a target of the component, the agent among them. */
async function verify(
  files: readonly ExecFile[],
  folder: string,
  targets: readonly string[],
): Promise<readonly StagedFile[]> {
  const staged: StagedFile[] = []
  for (const { target, path, sha256 } of files) {
    if (!targets.includes(target) || staged.some((other) => other.target === target))
      throw new StepError('BadArchive', `${target} is not for this program to replace`)
    if (dirname(path) !== folder) throw new StepError('BadArchive', `${path} is not in the staging folder`)
    const facts = await fileFacts(path)
    if (!facts) throw new StepError('BadArchive', `${path} is not there`)
    if (sha256 !== undefined && facts.sha256 !== sha256)
      throw new StepError('DigestMismatch', `${path} is not what the program says it is`)
    await syncFile(path)
    staged.push({ target, staged: path, sha256: facts.sha256, size: facts.size })
  }
  return staged
}
