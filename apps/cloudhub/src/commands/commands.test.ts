import { EventEmitter } from 'node:events'
import { ConfigError, silentLogger } from '@upgrade-hub/core'
import { SECRETS } from '@upgrade-hub/kube'
import { splitToken } from '@upgrade-hub/pki'
import { describe, expect, it } from 'vitest'
import { openHubCa } from '../certificates/hub-ca.ts'
import { OVERRIDES } from '../config.ts'
import { createToken, redeemToken } from '../gateway/tokens.ts'
import { stopSignal } from '../lifecycle.ts'
import { StopStack } from '../stop-stack.ts'
import { FakeKube } from '../testing/fake-kube.ts'
import { helpText, readCommand } from './command-line.ts'
import { readTokenFlags, tokenCommand } from './token.ts'

describe('readCommand', () => {
  it.each([
    [[], 'run', []],
    [['--embedded'], 'run', ['--embedded']],
    [['run', '--embedded'], 'run', ['--embedded']],
    [['install-crds', '--context', 'x'], 'install-crds', ['--context', 'x']],
    [['token', 'create', '--node', 'n'], 'token create', ['--node', 'n']],
    [['run', '--help'], 'help', []],
  ])('reads %j', (argv, name, args) => {
    expect(readCommand(argv)).toEqual({ name, args })
  })

  it.each([[['start']], [['token']], [['token', 'list']]])('refuses %j', (argv) => {
    expect(() => readCommand(argv)).toThrow(ConfigError)
  })

  it('helps with every flag there is', () => {
    for (const { flag } of OVERRIDES) expect(helpText()).toContain(flag)
  })
})

describe('readTokenFlags', () => {
  it.each([
    [['--node', 'n1', '--node=n2'], { nodeNames: ['n1', 'n2'], ttlMs: 86_400_000 }, []],
    [['--node', 'n1'], { nodeNames: ['n1'], ttlMs: 86_400_000 }, []],
    [
      ['--context', 'c', '--ttl=30m', '--node=n1'],
      { nodeNames: ['n1'], ttlMs: 1_800_000 },
      ['--context', 'c'],
    ],
    [
      ['--node', 'n1', '--kubeconfig', 'k', '--ttl', '7d'],
      { nodeNames: ['n1'], ttlMs: 604_800_000 },
      ['--kubeconfig', 'k'],
    ],
  ])('takes its own of %j and leaves the settings', (args, request, rest) => {
    expect(readTokenFlags(args)).toEqual({ request, rest })
  })

  it.each([
    [[]],
    [['--node', 'N_1']],
    [['--node']],
    [['--node', 'n1', '--node', 'N_1']],
    [['--node', 'n1', '--ttl', 'soon']],
    [['--node', 'n1', '--ttl', '0s']],
    [['--node', 'n1', '--ttl', '31d']],
  ])('refuses %j', (args) => {
    expect(() => readTokenFlags(args)).toThrow(ConfigError)
  })
})

describe('tokens', () => {
  const request = { nodeName: 'n1', ttlMs: 1_000 }

  it('are printed once: the Secret does not hold them', async () => {
    const kube = new FakeKube()
    const token = await tokenCommand(kube, { nodeNames: ['n1'], ttlMs: 1_000 }, silentLogger)
    expect(JSON.stringify(kube.all(SECRETS))).not.toContain(token.split('.').at(-1))
    const hubCa = await openHubCa(kube, silentLogger)
    const { jwt } = splitToken(token)
    expect(await redeemToken(kube, hubCa, { jwt, nodeName: 'n1' })).toMatchObject({ nodeName: 'n1' })
  })

  it('are printed a line each, in the order asked, each good for its own node', async () => {
    const kube = new FakeKube()
    const printed = await tokenCommand(kube, { nodeNames: ['n1', 'n2'], ttlMs: 1_000 }, silentLogger)
    const hubCa = await openHubCa(kube, silentLogger)
    const [, second = ''] = printed.split('\n')
    const { jwt } = splitToken(second)
    await expect(redeemToken(kube, hubCa, { jwt, nodeName: 'n1' })).rejects.toThrow(/node/)
    expect(await redeemToken(kube, hubCa, { jwt, nodeName: 'n2' })).toMatchObject({ nodeName: 'n2' })
  })

  it('are cleared away when they have expired', async () => {
    const kube = new FakeKube()
    const hubCa = await openHubCa(kube, silentLogger)
    await createToken(kube, hubCa, request)
    kube.now += 2_000
    const { secret } = await createToken(kube, hubCa, request)
    const left = kube.all(SECRETS).filter(({ type }) => type?.includes('token'))
    expect(left.map(({ metadata }) => `upgrade-hub/${metadata.name}`)).toEqual([secret])
  })
})

describe('stopSignal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('aborts on %s and leaves a second one to the system', (name) => {
    const source = new EventEmitter()
    const signal = stopSignal(source)
    expect(signal.aborted).toBe(false)
    source.emit(name)
    expect(signal.aborted).toBe(true)
    expect(source.listenerCount('SIGTERM') + source.listenerCount('SIGINT')).toBe(0)
  })
})

describe('StopStack', () => {
  it('undoes in reverse order, once, whatever fails', async () => {
    const stack = new StopStack(silentLogger)
    const done: string[] = []
    const step = (name: string, fails = false) =>
      stack.push(name, () => {
        done.push(name)
        return fails ? Promise.reject(new Error('no')) : Promise.resolve()
      })
    step('first')
    step('second', true)
    step('third')
    await Promise.all([stack.stop(), stack.stop()])
    expect(done).toEqual(['third', 'second', 'first'])
    expect(stack.signal.aborted).toBe(true)
  })

  it('undoes at once what is started while it stops', async () => {
    const stack = new StopStack(silentLogger)
    await stack.stop()
    let undone = false
    stack.push('late', () => Promise.resolve(void (undone = true)))
    expect(undone).toBe(true)
  })
})
