import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { silentLogger } from '@upgrade-hub/core'
import { askEdgehub, type ControlRequest } from '@upgrade-hub/upgrader/control'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openControlSocket } from './control-socket.ts'
import { AlreadyRunningError, ControlSocketError } from './errors.ts'

let folder: string
let path: string
let asked: ControlRequest[]
let close: () => void
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upgrade-hub-ctl-'))
  path = join(folder, 'run', 'edgehub.sock')
  asked = []
  close = () => undefined
})
afterEach(async () => {
  close()
  await rm(folder, { recursive: true, force: true })
})

async function open(perform?: (request: ControlRequest) => Promise<never>): Promise<void> {
  const done = (request: ControlRequest) => {
    asked.push(request)
    return Promise.resolve({ done: true, message: 'so be it', data: { verb: request.verb } })
  }
  const socket = await openControlSocket({ path, perform: perform ?? done, log: silentLogger })
  close = () => socket.close()
}

async function say(line: string): Promise<unknown> {
  const socket = connect(path)
  await once(socket, 'connect')
  socket.write(line)
  return JSON.parse(await text(socket)) as unknown
}

describe('the control socket', () => {
  it('answers what edgeadm asks, in a folder of root alone', async () => {
    await open()
    expect(await askEdgehub(path, { verb: 'hold', reason: 'tea' })).toMatchObject({ data: { verb: 'hold' } })
    expect(asked).toEqual([{ verb: 'hold', reason: 'tea' }])
    expect((await stat(join(folder, 'run'))).mode & 0o777).toBe(0o700)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('closes a folder that others could enter', async () => {
    await mkdir(join(folder, 'run'))
    await chmod(join(folder, 'run'), 0o777)
    await open()
    expect((await stat(join(folder, 'run'))).mode & 0o777).toBe(0o700)
  })

  it.each([
    ['no JSON', 'hello\n'],
    ['an unknown verb', '{"verb":"reboot"}\n'],
    ['a key of its own', '{"verb":"hold","argv":["sh"]}\n'],
    ['a line without an end', 'x'.repeat(5_000)],
  ])('does nothing for %s', async (_, line) => {
    await open()
    expect(await say(line)).toMatchObject({ done: false })
    expect(asked).toEqual([])
  })

  it('says what went wrong', async () => {
    await open(() => Promise.reject(new Error('the disk is full')))
    expect(await askEdgehub(path, { verb: 'release' })).toEqual({
      done: false,
      message: 'the disk is full',
      data: {},
    })
  })

  it('takes the place of one that died, and never of one that lives', async () => {
    await mkdir(join(folder, 'run'))
    await writeFile(path, '')
    await open()
    await expect(
      openControlSocket({ path, perform: () => Promise.reject(new Error('no')), log: silentLogger }),
    ).rejects.toThrow(AlreadyRunningError)
  })

  it('is not there: who asks does the work', async () => {
    expect(await askEdgehub(path, { verb: 'status' })).toBeUndefined()
  })

  it('cannot be opened: a coded error says why', async () => {
    await writeFile(join(folder, 'run'), 'a file')
    await expect(open()).rejects.toThrow(ControlSocketError)
  })
})
