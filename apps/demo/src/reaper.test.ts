import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { processesOf, reap } from './reaper.ts'

let folder: string
let program: string
let obedient: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reaper-'))
  program = join(folder, 'agent.mjs')
  obedient = join(folder, 'obedient.mjs')
  await writeFile(obedient, "setInterval(() => undefined, 1e6); console.log('up')")
  await writeFile(
    program,
    "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1e6); console.log('up')",
  )
})
afterAll(() => rm(folder, { recursive: true }))

async function start(argv: readonly [string, ...string[]], detached = true) {
  const child = spawn(argv[0], argv.slice(1), { detached, stdio: ['pipe', 'pipe', 'ignore'] })
  const gone = new Promise((resolve) => child.once('exit', resolve))
  if (argv[1]?.startsWith(folder)) await new Promise((resolve) => child.stdout.once('data', resolve))
  return { child, gone }
}

describe('the reaper', () => {
  it('ends a detached process of the demo that ignores TERM, and nobody else', async () => {
    const agent = await start([process.execPath, program])
    const reader = await start(['/usr/bin/tail', '-f', program])
    expect(processesOf(folder)).toEqual([agent.child.pid])
    await reap(folder, 300)
    await agent.gone
    expect(processesOf(folder)).toEqual([])
    expect(reader.child.exitCode).toBeNull()
    reader.child.kill('SIGKILL')
    await reader.gone
  })

  it('acts when the pipe to its parent closes, however the parent ended', async () => {
    const agent = await start([process.execPath, obedient])
    const main = fileURLToPath(new URL('./reaper-main.ts', import.meta.url))
    const reaper = await start([process.execPath, main, `--folder=${folder}`])
    reaper.child.stdin.destroy()
    await Promise.all([agent.gone, reaper.gone])
    expect(reaper.child.exitCode).toBe(0)
  })
})
