import { isAbsolute } from 'node:path'
import { messageOf } from '@upgrade-hub/core'
import { runProgram } from '@upgrade-hub/upgrader'
import { EXIT } from '../exit-codes.ts'
import type { CommandContext } from './command.ts'

const TIMEOUT_MS = 600_000

/** keadm's two flags, for programs of the operator: started directly, never by a shell. */
export const SCRIPT_OPTIONS = { 'pre-run': { type: 'string' }, 'post-run': { type: 'string' } } as const
export const SCRIPT_HELP = [
  '--pre-run FILE          a program to run first; when it fails nothing is done',
  '--post-run FILE         a program to run after success',
]

/** The work between the two programs. A failure of the second changes nothing that was done, and is only told. */
export async function withScripts(context: CommandContext, work: () => Promise<number>): Promise<number> {
  const { values, print, log } = context
  const [before, after] = [values['pre-run'], values['post-run']]
  const relative = [before, after].find((path) => typeof path === 'string' && !isAbsolute(path))
  if (relative !== undefined) {
    print(`${relative} is no absolute path`, { error: 'BadPath' })
    return EXIT.usage
  }
  const problem = await failureOf(before)
  if (problem !== undefined) {
    print(`nothing was done: ${problem}`, { error: problem })
    return EXIT.unchanged
  }
  const code = await work()
  const late = code === EXIT.ok ? await failureOf(after) : undefined
  if (late !== undefined) log.warn({ error: late }, 'the program to run afterwards has failed')
  return code
}

async function failureOf(program: string | boolean | undefined): Promise<string | undefined> {
  if (typeof program !== 'string') return undefined
  try {
    await runProgram(program, [], { timeoutMs: TIMEOUT_MS })
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
