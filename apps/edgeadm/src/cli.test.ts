import { readFileSync } from 'node:fs'
import { ConfigError, silentLogger } from '@upgrade-hub/core'
import { EDGE_VERSION, LockHeldError } from '@upgrade-hub/upgrader'
import { describe, expect, it } from 'vitest'
import { runCli } from './cli.ts'
import type { Command } from './commands/command.ts'
import { COMMANDS } from './commands/table.ts'
import { readEnvironment } from './config.ts'
import { EXIT, exitCodeOf } from './exit-codes.ts'

async function run(argv: readonly string[], commands: readonly Command[] = COMMANDS) {
  const out: string[] = []
  const err: string[] = []
  const output = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const code = await runCli({ argv, commands, environment: readEnvironment({}), log: silentLogger, output })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const command = (body: Command['run']): readonly Command[] => [
  { name: 'do it', summary: 'does it', options: { hard: { type: 'boolean' } }, help: ['--hard'], run: body },
]

describe('the command line', () => {
  it.each([[[]], [['--help']], [['-h']]])('%j lists every command and the exit codes', async (argv) => {
    const { code, out } = await run(argv)
    expect(code).toBe(EXIT.ok)
    for (const { name } of COMMANDS) expect(out).toContain(name)
    expect(out).toContain('the old agent runs again')
  })

  it.each(COMMANDS.map(({ name }) => [name]))('%s --help says what it does and its options', async (name) => {
    const { code, out } = await run([...name.split(' '), '--help'])
    expect(code).toBe(EXIT.ok)
    const { summary, options } = COMMANDS.find((one) => one.name === name) ?? { summary: '?', options: {} }
    expect(out).toContain(summary)
    for (const option of Object.keys(options)) expect(out).toContain(`--${option}`)
  })

  it.each([
    [['fly']],
    [['upgrade']],
    [['upgrade', 'cloud']],
    [['status', '--nonsense']],
    [['status', 'extra']],
  ])('%j is wrong usage', async (argv) => {
    const { code, err } = await run(argv)
    expect(code).toBe(EXIT.usage)
    expect(err).not.toBe('')
  })

  it('says which release it is', async () => {
    expect(await run(['--version'])).toMatchObject({ code: EXIT.ok, out: EDGE_VERSION })
  })

  it('prints for people, or JSON for programs', async () => {
    const commands = command(({ print, values }) => {
      print('done', { done: true, hard: values['hard'] })
      return Promise.resolve(EXIT.ok)
    })
    expect((await run(['do', 'it'], commands)).out).toBe('done')
    expect((await run(['do', 'it', '--hard', '--output', 'json'], commands)).out).toBe(
      '{"done":true,"hard":true}',
    )
  })

  it.each([
    [new LockHeldError('/x', 'attempt a.1', 3), EXIT.busy],
    [new ConfigError('/x', ['no']), EXIT.config],
    [new Error('surprise'), EXIT.unexpected],
  ])('says %s by its exit code %d', async (error, expected) => {
    const { code, err } = await run(
      ['do', 'it'],
      command(() => Promise.reject(error)),
    )
    expect(code).toBe(expected)
    expect(err).toContain(error.message)
  })

  it('has no configuration: says which file', async () => {
    const { code, err } = await run(['status', '--config', '/no/such/file'])
    expect(code).toBe(EXIT.config)
    expect(err).toContain('/no/such/file')
  })
})

describe('docs/edgeadm.md', () => {
  const page = readFileSync(new URL('../../../docs/edgeadm.md', import.meta.url), 'utf8')

  it.each(COMMANDS.map(({ name }) => [name]))('has %s', (name) => {
    expect(page).toContain(`\`edgeadm ${name}\``)
  })

  it.each(Object.entries(EXIT))('explains the exit code %s', (_, code) => {
    expect(page).toMatch(new RegExp(`^\\| ${code} \\| `, 'm'))
  })
})

describe('an exit code', () => {
  it('tells a node that needs a person from one that does not', () => {
    expect(exitCodeOf('Succeeded')).toBe(0)
    expect(exitCodeOf('Cancelled')).toBe(1)
    expect(exitCodeOf('RolledBack')).toBe(3)
    expect(exitCodeOf('RollbackFailed')).toBe(4)
    expect(exitCodeOf('StateUnreadable')).toBe(5)
  })
})

describe('the fault point', () => {
  it.each([
    ['E7.before:kill', { point: 'E7.before', signal: 'SIGKILL' }],
    ['E7.before:stop', { point: 'E7.before', signal: 'SIGSTOP' }],
    ['E7.before', undefined],
    ['rm -rf:kill', undefined],
    ['', undefined],
  ])('%j names %j', (text, expected) => {
    expect(readEnvironment({ UPGRADE_HUB_FAULT: text }).fault).toEqual(expected)
  })
})
