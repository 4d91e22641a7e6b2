import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { expect, it } from 'vitest'

const LIGHT = new URL('light.ts', import.meta.url).href
const SCRIPT = `
const { createLightLogger } = await import(${JSON.stringify(LIGHT)})
const log = createLightLogger({ level: 'info', name: 'test' })
log.info({}, 'lost')
await new Promise((resolve) => setImmediate(resolve))
log.info({}, 'lost, too')
`

/** F05; every write to /dev/full fails with ENOSPC. @see full(4) */
it('a standard output without room ends no program that logs there', async () => {
  const full = openSync('/dev/full', 'w')
  const args = ['--input-type=module', '--eval', SCRIPT]
  const child = spawn(process.execPath, args, { stdio: ['ignore', full, 'inherit'] })
  closeSync(full)
  expect(await once(child, 'close')).toEqual([0, null])
})
