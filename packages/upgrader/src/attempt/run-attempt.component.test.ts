import { appendFile, chmod, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import type { Prepare } from '@upgrade-hub/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { LockHeldError } from '../errors.ts'
import { acquireLock } from '../host/lock.ts'
import { createService } from '../service/service.ts'
import { openSpool } from '../spool.ts'
import { keptOf } from '../steps/swap.ts'
import { openAttemptStore } from '../store/attempt-store.ts'
import { attemptPaths, nodeLock, stagingFolder } from '../store/paths.ts'
import {
  agentProgram,
  createNode,
  type NodeFixture,
  type NodeOptions,
  prepareFor,
  testPorts,
} from '../testing/index.ts'
import { runAttempt } from './run-attempt.ts'

const ID = 'job-1.1'
const IMAGE = '127.0.0.1:5000/team/edge'
const TIMEOUT_MS = 60_000

const PORTS = { clock: systemClock, log: silentLogger }

let node: NodeFixture

afterEach(() => node.remove())

type Change = Partial<Prepare> & { ports?: Parameters<typeof testPorts>[1] }

/** A node whose attempt is accepted, with what a test needs to carry it on. */
async function begin(program: string, change: Change = {}, options: NodeOptions = {}) {
  node = await createNode(options)
  const store = openAttemptStore(node.config)
  const { ports: changedPorts, ...prepare } = change
  const { ports, posted } = testPorts(program, changedPorts)
  const answer = await store.accept(prepareFor({ Image: IMAGE, ...prepare }))
  return {
    store,
    posted,
    answer,
    run: () => runAttempt({ config: node.config, id: ID, ports }),
    permit: (intentSeq = 2, validForSeconds = 60) =>
      store.permit(ID, { epoch: 1, nodeUID: 'node-uid', intentSeq, validForSeconds }),
  }
}

async function upgrade(program: string, change: Change = {}, options: NodeOptions = {}) {
  const attempt = await begin(program, change, options)
  await attempt.run()
  await attempt.permit()
  return { ...attempt, state: await attempt.run() }
}

async function isRunning(): Promise<boolean> {
  return (await createService(node.component, systemClock).state()).running
}

describe('an upgrade', { timeout: TIMEOUT_MS }, () => {
  it('stays in service while it prepares, and says from what it goes to what', async () => {
    const { store, run, answer } = await begin(agentProgram('v1.1.0'))
    expect(answer.Value).toBe('accepted')
    await run()
    const view = await store.attempt(ID)
    expect(view).toMatchObject({ phase: 'prepared', needsUpdater: false, pastStop: false })
    expect(view?.answer).toMatchObject({
      Value: 'prepared',
      FromVersion: 'v1.0.0',
      Platform: { os: 'linux' },
    })
    expect(await node.starts()).toEqual(['v1.0.0'])
    expect(await readdir(node.config.paths.etc)).not.toContain('idempotency_record')
  })

  it('installs the new program, keeps its mode, and reports once', async () => {
    const { store, posted } = await upgrade(agentProgram('v1.1.0'))
    expect(posted).toEqual([
      expect.objectContaining({ Outcome: 'Succeeded', Code: 'Upgraded', RunningVersion: 'v1.1.0' }),
    ])
    expect(posted[0]?.Status).toBe('upgrade_success')
    expect((await stat(node.component.binary)).mode & 0o777).toBe(0o755)
    expect(await node.starts()).toEqual(['v1.0.0', 'v1.1.0'])
    expect((await store.attempt(ID))?.phase).toBe('ended')
    expect(await openSpool(node.config).size()).toBe(0)
    expect(await readdir(join(node.config.paths.etc, 'backup'))).toEqual(['a1b2c3.1', 'v1.0.0'])
  })

  it('keeps the result in the spool when nobody takes it', async () => {
    const post = () => Promise.resolve({ kind: 'retry', why: 'away' } as const)
    const { state } = await upgrade(agentProgram('v1.1.0'), { ports: { post } })
    expect(state.ending?.outcome).toBe('Succeeded')
    expect((await openSpool(node.config).oldest())?.result).toMatchObject({ Outcome: 'Succeeded' })
  })

  it('does nothing, and well, when the version already runs', async () => {
    const { store, run } = await begin(agentProgram('v1.1.0'), {}, { version: 'v1.1.0' })
    await run()
    expect((await store.attempt(ID))?.result).toMatchObject({
      Outcome: 'Succeeded',
      Code: 'AlreadyAtVersion',
    })
    expect(await node.starts()).toEqual(['v1.1.0'])
  })

  it('kills an old agent that does not listen to SIGTERM', async () => {
    const { state } = await upgrade(
      agentProgram('v1.1.0'),
      {},
      { program: agentProgram('v1.0.0', 'ignores TERM') },
    )
    expect(state.ending?.outcome).toBe('Succeeded')
  })

  it('goes back to a backed-up version as a task of its own', async () => {
    await upgrade(agentProgram('v1.1.0'))
    const store = openAttemptStore(node.config)
    const { ports } = testPorts('not asked')
    const back = {
      Task: 'back',
      TaskUID: 'd4',
      HistoryID: 'back.1',
      Purpose: 'RollBack',
      Version: 'v1.0.0',
    } as const
    await store.accept(prepareFor({ ...back, Image: '' }))
    await runAttempt({ config: node.config, id: 'back.1', ports })
    await store.permit('back.1', { epoch: 2, nodeUID: 'node-uid', intentSeq: 2, validForSeconds: 60 })
    const { ending } = await runAttempt({ config: node.config, id: 'back.1', ports })
    expect(ending).toMatchObject({ outcome: 'Succeeded' })
    expect(await node.starts()).toEqual(['v1.0.0', 'v1.1.0', 'v1.0.0'])
  })
})

/** F22 */
describe('a bad new agent', { timeout: TIMEOUT_MS }, () => {
  it.each(['crashes at once', 'dies soon', 'says another version', 'needs a new config'] as const)(
    'that %s is rolled back and the old one is proven',
    async (kind) => {
      const { state, posted } = await upgrade(agentProgram('v1.1.0', kind))
      expect(state.ending).toMatchObject({ outcome: 'RolledBack', code: 'HealthFailed' })
      expect(posted[0]).toMatchObject({ Status: 'upgrade_failed_rollback_success', RunningVersion: 'v1.0.0' })
      expect(await readFile(node.component.binary, 'utf8')).toBe(agentProgram('v1.0.0'))
      expect(await isRunning()).toBe(true)
    },
  )

  it('that runs and says its version but fails a probe is rolled back', async () => {
    const probes = [{ tcpSocket: { port: 1 }, periodSeconds: 1, failureThreshold: 2 }]
    const { state } = await upgrade(agentProgram('v1.1.0'), { Health: { minReadySeconds: 0, probes } })
    expect(state.ending).toMatchObject({ outcome: 'RolledBack', code: 'HealthFailed' })
    expect(state.ending?.reason).toContain('probe tcp 127.0.0.1:1 failed 2 times')
    expect(await isRunning()).toBe(true)
  })

  it('that cannot be executed never gets as far as the stop', async () => {
    const { store, run } = await begin('#!/no/such/program\n')
    await run()
    expect((await store.attempt(ID))?.answer).toMatchObject({ Value: 'refused', Code: 'VersionMismatch' })
    expect(await node.starts()).toEqual(['v1.0.0'])
    expect(await readdir(join(node.config.paths.etc, 'upgrade'))).toEqual([])
  })

  it('whose time is over is rolled back', async () => {
    const Timeouts = { ...prepareFor({ Image: IMAGE }).Timeouts, upgradeSeconds: 2 }
    const { state } = await upgrade(agentProgram('v1.1.0'), { Health: { minReadySeconds: 3 }, Timeouts })
    expect(state.ending).toMatchObject({ outcome: 'RolledBack', code: 'UpgradeTimeout' })
    expect(await readFile(node.component.binary, 'utf8')).toBe(agentProgram('v1.0.0'))
    expect(await isRunning()).toBe(true)
  })
})

/** F23 */
describe('a way back that is broken', { timeout: TIMEOUT_MS }, () => {
  /** S37 */
  it.each([
    ['the backup', () => join(node.config.paths.etc, 'backup/a1b2c3.1/0-edgecore')],
    ['the old file that was kept', () => keptOf(node.component.binary)],
  ])('at %s alone is no harm, because there are two copies', async (_, pathOf) => {
    const at = async (point: string) => {
      if (point === 'R5.before') await rm(pathOf())
    }
    const { state } = await upgrade(agentProgram('v1.1.0', 'dies soon'), { ports: { at } })
    expect(state.ending).toMatchObject({ outcome: 'RolledBack' })
    expect(await readFile(node.component.binary, 'utf8')).toBe(agentProgram('v1.0.0'))
  })

  it.each([
    ['damaged', (copy: string) => appendFile(copy, 'x')],
    ['emptied', (copy: string) => truncate(copy, 0)],
  ])(
    'by a backup that was %s says RollbackFailed and leaves an agent where one can run',
    async (_, damage) => {
      const at = async (point: string) => {
        if (point !== 'R5.before') return
        const copy = join(node.config.paths.etc, 'backup/a1b2c3.1/0-edgecore')
        await chmod(copy, 0o600)
        await damage(copy)
        await damage(keptOf(node.component.binary))
      }
      const { state, posted } = await upgrade(agentProgram('v1.1.0', 'dies soon'), { ports: { at } })
      expect(state.ending).toMatchObject({ outcome: 'RollbackFailed', code: 'RollbackFailed' })
      expect(state.ending?.reason).toContain('damaged')
      expect(posted[0]?.Status).toBe('upgrade_failed_rollback_failed')
      expect(await readFile(node.component.binary, 'utf8')).toBe(agentProgram('v1.1.0', 'dies soon'))
    },
  )
})

describe('what is asked of a node', { timeout: TIMEOUT_MS }, () => {
  it.each<[string, Partial<Prepare>, string]>([
    ['an older version', { Version: 'v0.9.0' }, 'Downgrade'],
    ['another version than the image has', { Version: 'v1.2.0' }, 'VersionMismatch'],
    ['a backup that is not there', { Purpose: 'RollBack', Version: 'v0.1.0', Image: '' }, 'PullFailed'],
  ])('%s is refused before anything is touched', async (_, change, code) => {
    const { store, run } = await begin(agentProgram('v1.1.0'), change)
    await run()
    expect((await store.attempt(ID))?.answer).toMatchObject({ Value: 'refused', Code: code })
    expect(await node.starts()).toEqual(['v1.0.0'])
  })

  it('has the registry that must say the same digest, which is asked with the token of the job', async () => {
    const { ports } = testPorts(agentProgram('v1.1.0'))
    const asked: unknown[] = []
    const pull: typeof ports.pull = (request) => (asked.push(request.registryApi), ports.pull(request))
    const RegistryAPI = { Host: 'registry.example', Token: 't' }
    const { run } = await begin(agentProgram('v1.1.0'), { RegistryAPI, ports: { pull } })
    await run()
    expect(asked).toEqual([{ host: 'registry.example', token: 't' }])
  })

  it('may be asked again with a higher number after a refusal', async () => {
    let fails = true
    const { ports } = testPorts(agentProgram('v1.1.0'))
    const pull: typeof ports.pull = (request) => {
      if (fails) throw new Error('no route')
      return ports.pull(request)
    }
    const { store, run } = await begin(agentProgram('v1.1.0'), { ports: { pull } })
    await run()
    expect((await store.attempt(ID))?.answer).toMatchObject({ Value: 'refused', Code: 'PullFailed' })
    fails = false
    await store.accept(prepareFor({ Image: IMAGE, IntentSeq: 3 }))
    await run()
    expect((await store.attempt(ID))?.answer).toMatchObject({ Value: 'prepared', IntentSeq: 3 })
  })

  it('is refused Busy while another command holds the lock, and the other keeps it', async () => {
    const { store, run } = await begin(agentProgram('v1.1.0'))
    const lock = await acquireLock(nodeLock(node.config), 'other.1', PORTS)
    await run()
    expect((await store.attempt(ID))?.answer).toMatchObject({ Value: 'refused', Code: 'Busy' })
    expect(await lock.isOurs()).toBe(true)
  })
})

describe('the permission', { timeout: TIMEOUT_MS }, () => {
  it('that is over leaves the agent alone and the attempt prepared, and a new one is followed', async () => {
    const { store, run, permit } = await begin(agentProgram('v1.1.0'))
    await run()
    await permit(2, 0)
    await run()
    expect((await store.attempt(ID))?.answer).toMatchObject({
      Value: 'refused',
      Code: 'PermissionExpired',
      IntentSeq: 2,
    })
    expect(await node.starts()).toEqual(['v1.0.0'])
    await permit(3)
    expect((await run()).ending?.outcome).toBe('Succeeded')
  })

  it('of another boot is none', async () => {
    const { store, run, permit } = await begin(agentProgram('v1.1.0'))
    await run()
    await permit()
    const path = attemptPaths(node.config, ID).permit
    await writeFile(path, (await readFile(path, 'utf8')).replace(/"boot":"[^"]+"/, '"boot":"another"'))
    await run()
    expect((await store.attempt(ID))?.answer).toMatchObject({ Value: 'refused', Code: 'PermissionExpired' })
    expect(await node.starts()).toEqual(['v1.0.0'])
  })

  it('does not help when the staged file was changed meanwhile', async () => {
    const { store, run, permit } = await begin(agentProgram('v1.1.0'))
    await run()
    await appendFile(join(stagingFolder(node.config, 'a1b2c3', 1), 'edgecore'), '// changed')
    await permit()
    await run()
    expect((await store.attempt(ID))?.answer).toMatchObject({ Value: 'refused', Code: 'PreparedStale' })
    expect(await node.starts()).toEqual(['v1.0.0'])
  })
})

describe('a cancel', { timeout: TIMEOUT_MS }, () => {
  const cancel = { Task: 'job-1', TaskUID: 'a1b2c3', Attempt: 1, IntentSeq: 9 }

  it('of a prepared attempt clears what was staged', async () => {
    const { store, run } = await begin(agentProgram('v1.1.0'))
    await run()
    expect((await store.cancel(cancel)).Value).toBe('done')
    expect((await run()).ending?.outcome).toBe('Cancelled')
    expect(await readdir(join(node.config.paths.etc, 'upgrade'))).toEqual([])
  })

  it('ends a download at once', async () => {
    const store = Promise.withResolvers<ReturnType<typeof openAttemptStore>>()
    const pull = async ({ signal }: { signal: AbortSignal }): Promise<never> => {
      await (await store.promise).cancel(cancel)
      await systemClock.sleep(30_000, signal)
      throw new Error('it was not ended')
    }
    const attempt = await begin(agentProgram('v1.1.0'), { ports: { pull } })
    store.resolve(attempt.store)
    expect((await attempt.run()).ending?.outcome).toBe('Cancelled')
  })

  it('comes too late once the stop is decided, and changes nothing', async () => {
    const values: string[] = []
    const at = async (point: string) => {
      if (point === 'E6.before') values.push((await openAttemptStore(node.config).cancel(cancel)).Value)
    }
    const { state } = await upgrade(agentProgram('v1.1.0'), { ports: { at } })
    expect(values).toEqual(['tooLate'])
    expect(state.ending?.outcome).toBe('Succeeded')
  })

  it('that comes between back-up and stop wins over the stop', async () => {
    const at = async (point: string) => {
      if (point === 'E5.backedUp') await openAttemptStore(node.config).cancel(cancel)
    }
    const { state } = await upgrade(agentProgram('v1.1.0'), { ports: { at } })
    expect(state.ending?.outcome).toBe('Cancelled')
    expect(await node.starts()).toEqual(['v1.0.0'])
  })
})

describe('a confirmation', { timeout: TIMEOUT_MS }, () => {
  it('is waited for with the lock free, and followed', async () => {
    const { store, run } = await begin(agentProgram('v1.1.0'), { RequireConfirmation: true })
    const running = run()
    while ((await store.attempt(ID))?.step !== 'E4c') await systemClock.sleep(20)
    const lock = await acquireLock(nodeLock(node.config), 'other.1', PORTS)
    expect((await store.attempt(ID))?.answer?.Value).toBe('accepted')
    expect(await store.confirm(ID)).toBe(true)
    expect((await running).step).toBe('prepared')
    await lock.release()
  })

  it('that never comes ends the attempt untouched', async () => {
    const Timeouts = { ...prepareFor({ Image: IMAGE }).Timeouts, confirmSeconds: 1 }
    const { run } = await begin(agentProgram('v1.1.0'), { RequireConfirmation: true, Timeouts })
    expect((await run()).ending).toMatchObject({ outcome: 'FailedBeforeChange', code: 'ConfirmTimeout' })
  })
})

/** F04 */
describe('state on disk that is damaged', { timeout: TIMEOUT_MS }, () => {
  it('keeps the agent, starts it when it was stopped, and says StateUnreadable', async () => {
    const attempt = await begin(agentProgram('v1.1.0'))
    await attempt.run()
    await attempt.permit()
    await createService(node.component, systemClock).stop()
    const { journal } = attemptPaths(node.config, ID)
    const text = await readFile(journal, 'utf8')
    await writeFile(journal, text.replace('"E2"', '"E3"'))
    const { ports, posted } = testPorts('')
    const state = await runAttempt({ config: node.config, id: ID, ports })
    expect(state.ending?.outcome).toBe('StateUnreadable')
    expect(posted[0]).toMatchObject({ Outcome: 'StateUnreadable', RunningVersion: 'v1.0.0', Status: '' })
    expect(await isRunning()).toBe(true)
    expect(
      (await readdir(attemptPaths(node.config, ID).folder)).filter((name) => name.includes('unreadable')),
    ).toHaveLength(1)
  })

  it('is looked into only when no other attempt changes the node', async () => {
    const { permit, run } = await begin(agentProgram('v1.1.0'))
    await run()
    await permit()
    await createService(node.component, systemClock).stop()
    const { journal } = attemptPaths(node.config, ID)
    await writeFile(journal, 'damaged\n')
    const lock = await acquireLock(nodeLock(node.config), 'other.1', PORTS)
    const waits = Promise.withResolvers<string>()
    const log = { ...silentLogger, warn: (_: object, message: string) => waits.resolve(message) }
    const running = runAttempt({ config: node.config, id: ID, ports: testPorts('', { log }).ports })
    expect(await waits.promise).toBe('waiting for the lock')
    expect(await isRunning()).toBe(false)
    await lock.release()
    expect((await running).ending?.outcome).toBe('StateUnreadable')
    expect(await isRunning()).toBe(true)
  })

  it('a torn last record is as if it had not been written', async () => {
    const { run, permit } = await begin(agentProgram('v1.1.0'))
    await run()
    const { journal } = attemptPaths(node.config, ID)
    await appendFile(journal, '0123456789abcdef {"v":1,"seq":')
    await permit()
    expect((await run()).ending?.outcome).toBe('Succeeded')
  })

  it('an attempt has one updater at a time', async () => {
    const { run } = await begin(agentProgram('v1.1.0'), { RequireConfirmation: true })
    const runs = [run(), run()]
    const first = await Promise.race(runs.map((one) => one.catch((error: unknown) => error)))
    expect(first).toBeInstanceOf(LockHeldError)
    await openAttemptStore(node.config).cancel({ Task: 'job-1', TaskUID: 'a1b2c3', Attempt: 1, IntentSeq: 5 })
    const ends = await Promise.allSettled(runs)
    expect(ends.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('a folder in the place of the journal is moved away, and said', async () => {
    const { run } = await begin(agentProgram('v1.1.0'))
    await mkdir(attemptPaths(node.config, ID).journal)
    expect((await run()).ending?.outcome).toBe('StateUnreadable')
    expect(await isRunning()).toBe(true)
  })
})
