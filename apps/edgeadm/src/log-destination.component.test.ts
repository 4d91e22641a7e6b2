import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createNode, type NodeFixture } from '@upgrade-hub/upgrader/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EXIT } from './exit-codes.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
/** Every write to it fails with ENOSPC. @see full(4) */
const FULL_DISK = '/dev/full'

let node: NodeFixture
beforeEach(async () => {
  node = await createNode({ isStarted: false })
})
afterEach(() => node.remove())

/** F05 */
describe('a log that cannot be written', { timeout: 60_000 }, () => {
  it.each([
    ['on a full disk', FULL_DISK],
    ['in a folder that is not there', '/no/such/folder/updater.log'],
  ])('%s ends no command', async (_, logFile) => {
    const full = openSync(FULL_DISK, 'w')
    // What fails afterwards is told by the log alone.
    const args = ['backup', 'edge', '--post-run', '/bin/false', '--config', node.configPath]
    const env = { UPGRADE_HUB_LOG: logFile }
    const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'ignore', full] })
    closeSync(full)
    expect(await once(child, 'close')).toEqual([EXIT.ok, null])
  })
})
