import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const BIN = fileURLToPath(new URL('../bin', import.meta.url))
/** What a launcher sees on a machine with an older Node. */
const AS_NODE_20 = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } })`

function launched(folder: string, args: readonly string[], nodeFlags: readonly string[] = []) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const argv = [...nodeFlags, join(folder, 'kubectl-nodeupgrade'), ...args]
    execFile(process.execPath, argv, { timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

it('a launcher runs the plugin, and its exit code is the plugin’s', async () => {
  expect(await launched(BIN, ['watch', '--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('kubectl nodeupgrade watch JOB'),
  })
  expect(await launched(BIN, ['frob'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('PLUGIN_USAGE'),
  })
})

it('a launcher on an older Node hands over to the one that the packages brought', async () => {
  expect(await launched(BIN, ['frob'], ['--import', AS_NODE_20])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('PLUGIN_USAGE'),
  })
})

it('a launcher that finds no Node which is new enough says what to do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'launcher-'))
  try {
    await cp(BIN, folder, { recursive: true })
    expect(await launched(folder, ['status'], ['--import', AS_NODE_20])).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(
        /^PLUGIN_NODE_TOO_OLD: kubectl nodeupgrade needs Node 24, and this is 20\.1\.0: put /,
      ),
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
