import { readFileSync } from 'node:fs'
import { validate } from '@upgrade-hub/protocol'
import { EDGE_VERSION } from '@upgrade-hub/upgrader'
import { describe, expect, it } from 'vitest'
import { makeHello } from './hello.ts'
import { viewOf } from './testing/views.ts'

const facts = {
  bootID: 'b',
  machineID: 'm',
  timeZone: 'UTC',
  registerNode: false,
  probe: undefined,
  attempts: [],
  undelivered: 0,
}

describe('hello', () => {
  it('names the open attempts only, the newest 64 at most, and is a valid frame', () => {
    const attempts = Array.from({ length: 100 }, (_, i) => viewOf({ attempt: i + 1 }))
    const hello = makeHello({ ...facts, attempts: [viewOf({ phase: 'ended', attempt: 200 }), ...attempts] })
    expect(validate('Hello', hello).open.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: 64 }, (_, i) => i + 37),
    )
  })

  it('asks for a Node only where nobody else registers it', () => {
    expect(makeHello(facts).capabilities).toEqual([])
    expect(makeHello({ ...facts, registerNode: true }).capabilities).toEqual(['registerNode'])
  })

  it('carries the version of the release', () => {
    const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
    expect((JSON.parse(manifest) as { version: string }).version).toBe(EDGE_VERSION)
  })
})
