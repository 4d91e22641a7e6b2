import type { EdgeSession } from '@upgrade-hub/channel'
import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { CLOSE, type Hello } from '@upgrade-hub/protocol'
import type { SlimNode } from '@upgrade-hub/rollout'
import { describe, expect, it } from 'vitest'
import { FakeKube } from '../testing/fake-kube.ts'
import { Sessions, type SessionsOptions } from './sessions.ts'

const HELLO = { node: { machineID: 'm1' }, open: [] } as unknown as Hello
const nodeOf = (uid: string) => ({ name: 'n1', uid }) as SlimNode

/** Sessions that know of no task, and a Node that may come and be replaced. */
function scene() {
  const closed: string[] = []
  let node: SlimNode | undefined
  const options = {
    client: new FakeKube(),
    tasks: { get: () => undefined, by: () => [] },
    nodes: { get: () => node },
    identities: { greet: () => Promise.resolve() },
    registered: { nodeUid: () => Promise.resolve(node?.uid ?? ''), opened: () => Promise.resolve() },
    reports: {},
    clock: new FakeClock(),
    log: silentLogger,
  }
  const sessions = new Sessions(options as unknown as SessionsOptions)
  const connect = async (betweenWelcomeAndSession = () => undefined as void) => {
    const { nodeUID } = (await sessions.welcome('n1', HELLO)) as { nodeUID: string }
    betweenWelcomeAndSession()
    const end = Promise.withResolvers<void>()
    const close = (code: number, reason: string) => {
      closed.push(`${code} ${reason}`)
      end.resolve()
    }
    sessions.onSession({
      nodeName: 'n1',
      closed: end.promise,
      close,
      onFrame: () => undefined,
    } as unknown as EdgeSession)
    await Promise.resolve()
    return nodeUID
  }
  const become = (uid: string) => sessions.onNode((node = nodeOf(uid)))
  return { connect, become, set: (uid: string) => void (node = nodeOf(uid)), closed }
}

const AGAIN = `${CLOSE.goingAway} NodeChanged`

describe('an edge whose Node', () => {
  it('comes after its session is asked to come again, and then knows it', async () => {
    const { connect, become, closed } = scene()
    expect(await connect()).toBe('')
    become('uid-1')
    expect(closed).toEqual([AGAIN])
    await Promise.resolve()
    expect(await connect()).toBe('uid-1')
    become('uid-1')
    expect(closed).toEqual([AGAIN])
  })

  it('is replaced by another of its name is asked to come again (F21)', async () => {
    const { connect, become, set, closed } = scene()
    set('uid-1')
    await connect()
    become('uid-2')
    expect(closed).toEqual([AGAIN])
  })

  it('comes while it is being welcomed is asked to come again', async () => {
    const { connect, set, closed } = scene()
    await connect(() => set('uid-1'))
    expect(closed).toEqual([AGAIN])
  })
})
