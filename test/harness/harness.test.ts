import { describe, expect, it } from 'vitest'
import { freePorts } from './ports.ts'
import { Program, run } from './program.ts'
import { until } from './until.ts'

const node = (script: string) => [process.execPath, '-e', script] as const

describe('a program of a test', () => {
  it.runIf(process.platform === 'linux')(
    'dies with the process that started it, even when that is killed',
    async () => {
      const module = new URL('program.ts', import.meta.url).href
      const parent = new Program('parent', [
        process.execPath,
        '--input-type=module',
        '-e',
        `import { Program } from ${JSON.stringify(module)}
       const child = new Program('child', [process.execPath, '-e', 'setInterval(() => {}, 1000)'])
       console.log('child', child.pid)`,
      ])
      const [, pid = ''] = await parent.says(/child (\d+)/)
      parent.kill('SIGKILL')
      expect(await until('the child is gone', () => !isAlive(Number(pid)))).toBe(true)
    },
  )

  it('is waited for by what it says, and fails the wait at once when it ends first', async () => {
    const program = new Program('talker', node(`console.log('listening on 7'); process.exitCode = 3`))
    expect((await program.says(/listening on (\d)/))[1]).toBe('7')
    await program.exited
    await expect(program.says(/never said/)).rejects.toThrow('ended without saying')
  })

  it('is killed when it does not stop in time', async () => {
    const { code, output } = await run(node(`console.log('started'); setInterval(() => {}, 1000)`), {
      timeoutMs: 500,
    })
    expect({ code, output }).toEqual({ code: null, output: 'started\n' })
  })

  it('that cannot be started is an error with its reason, not a crash', async () => {
    const { code } = await run(['/no/such/program'])
    expect(code).not.toBe(0)
  })
})

describe('until', () => {
  it('answers the first fact and keeps the last error when there is none', async () => {
    let looks = 0
    expect(await until('third look', () => ++looks === 3 && looks)).toBe(3)
    const failing = until('a fact', () => Promise.reject(new Error('not yet')), 50)
    await expect(failing).rejects.toMatchObject({
      message: 'not within 50 ms: a fact',
      cause: { message: 'not yet' },
    })
  })
})

it('free ports differ', async () => {
  const ports = await freePorts(5)
  expect(new Set(ports).size).toBe(5)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
