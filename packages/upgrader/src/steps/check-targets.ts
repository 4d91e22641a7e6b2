import { access, constants, lstat, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Component } from '../config.ts'
import { StepError } from '../errors.ts'
import { systemProgram } from '../host/command.ts'
import { programTargets } from './targets.ts'

/** Whoever may write here may put any program in the agent's place. */
const WRITABLE_BY_OTHERS = 0o002

/**
 * Looks at where the programs are: the agent must be there, a companion may be new, and nobody else may write beside them.
 * @throws StepError CheckFailed
 */
export async function checkTargets(component: Component): Promise<void> {
  const fail = (why: string) => new StepError('CheckFailed', why)
  if (!(await systemProgram('cp'))) throw fail('cp of coreutils is needed to keep extended attributes')
  for (const [at, target] of (await programTargets(component)).entries()) {
    const found = await lstat(target).catch(() => undefined)
    if (!found && at === 0) throw fail(`${target} does not exist`)
    if (found && !found.isFile()) throw fail(`${target} is not a regular file`)
    const problem = await folderProblem(dirname(target))
    if (problem) throw fail(problem)
  }
}

async function folderProblem(folder: string): Promise<string | undefined> {
  const found = await stat(folder).catch(() => undefined)
  if (!found) return `${folder} does not exist`
  const isOurs = found.uid === 0 || found.uid === process.getuid?.()
  if (!isOurs || (found.mode & WRITABLE_BY_OTHERS) !== 0) return `${folder} can be written by others`
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => undefined,
    () => `${folder} cannot be written`,
  )
}
