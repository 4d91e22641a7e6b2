import { chmod, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runAttempt } from '../attempt/run-attempt.ts'
import type { EdgeConfig } from '../config.ts'
import { openAttemptStore } from '../store/attempt-store.ts'
import { stagingFolder } from '../store/paths.ts'
import { agentProgram, createNode, type NodeFixture, prepareFor, testPorts } from '../testing/index.ts'

const ID = 'job-1.1'
const HASH = 'a'.repeat(64)

let node: NodeFixture
let staging: string
beforeEach(async () => {
  node = await createNode()
  staging = stagingFolder(node.config, 'a1b2c3', 1)
})
afterEach(() => node.remove())

/** Prepares with an operator's program of this text; the answer is what the hub is told. */
async function prepareWith(body: string, Timeouts = prepareFor({ Image: '' }).Timeouts) {
  const program = join(node.root, 'fetch')
  await writeFile(program, `#!/bin/sh\n${body}\n`)
  await chmod(program, 0o755)
  const policy = { ...node.config.policy, tools: ['exec'], exec: [program, '--from', 'usb'] }
  const config: EdgeConfig = { ...node.config, policy }
  const store = openAttemptStore(config)
  const prepare = prepareFor({ Image: 'host/team/edge', UpgradeTool: 'exec', Timeouts })
  const accepted = await store.accept(prepare)
  const { ports } = testPorts('not pulled')
  if (accepted.Value === 'accepted') await runAttempt({ config, id: ID, ports })
  const answer = (await store.attempt(ID))?.answer ?? accepted
  const proceed = async () => {
    await store.permit(ID, { epoch: 1, nodeUID: 'node-uid', intentSeq: 2, validForSeconds: 60 })
    return runAttempt({ config, id: ID, ports })
  }
  return { answer, proceed }
}

const put = (text = agentProgram('v1.1.0')) => `cat > "${staging}/new" <<'END'\n${text}END`
const say = (value: object) => `echo '${JSON.stringify(value)}'`
const files = (more: object = {}) =>
  say({ files: [{ target: node.component.binary, path: `${staging}/new`, ...more }] })

describe('the upgrade tool exec', { timeout: 60_000 }, () => {
  it('gets one JSON object and its arguments, and what it puts down is installed like any other', async () => {
    const { answer, proceed } = await prepareWith(
      [
        `echo "$@" > ${node.root}/args; cat > ${node.root}/asked`,
        put(),
        say({ log: 'found it' }),
        files(),
      ].join('\n'),
    )
    expect(answer).toMatchObject({ Value: 'prepared', FromVersion: 'v1.0.0' })
    expect(await readFile(join(node.root, 'args'), 'utf8')).toBe('--from usb\n')
    expect(JSON.parse(await readFile(join(node.root, 'asked'), 'utf8'))).toMatchObject({
      v: 1,
      request: 'fetch',
      version: 'v1.1.0',
      into: staging,
      targets: [node.component.binary],
    })
    expect((await proceed()).ending).toMatchObject({ outcome: 'Succeeded' })
    expect(await node.starts()).toEqual(['v1.0.0', 'v1.1.0'])
  })

  it.each<[string, () => string, string]>([
    ['says an error', () => say({ error: 'no stick' }), 'PullFailed'],
    ['ends with another code than 0', () => 'exit 3', 'PullFailed'],
    ['names no files', () => 'true', 'PullFailed'],
    ['writes what is no line of ours', () => 'echo hello', 'PullFailed'],
    ['writes without end', () => 'yes "{\\"log\\":\\"x\\"}"', 'PullFailed'],
    ['names a file that is not there', () => files(), 'BadArchive'],
    ['names a file elsewhere', () => files({ path: '/etc/passwd' }), 'BadArchive'],
    ['goes up', () => files({ path: `${staging}/../new` }), 'BadArchive'],
    ['names a target that is not the component’s', () => files({ target: '/etc/passwd' }), 'BadArchive'],
    ['names another hash', () => `${put()}\n${files({ sha256: HASH })}`, 'DigestMismatch'],
    ['brings another version', () => `${put(agentProgram('v3.0.0'))}\n${files()}`, 'VersionMismatch'],
  ])('refuses a program that %s, with the agent untouched', async (_, body, code) => {
    const { answer } = await prepareWith(body())
    expect(answer).toMatchObject({ Value: 'refused', Code: code })
    expect(await node.starts()).toEqual(['v1.0.0'])
  })

  it('follows no link that a program puts down', async () => {
    await symlink('/etc/passwd', join(node.root, 'link'))
    const { answer } = await prepareWith(`mv ${node.root}/link ${staging}/new\n${files()}`)
    expect(answer).toMatchObject({ Value: 'refused', Code: 'PullFailed' })
  })

  it('ends a program that takes too long, with all it has started', async () => {
    const Timeouts = { ...prepareFor({ Image: '' }).Timeouts, downloadSeconds: 1 }
    const { answer } = await prepareWith(`sleep 600 & echo $! > ${node.root}/child; sleep 600`, Timeouts)
    expect(answer).toMatchObject({ Value: 'refused', Code: 'DownloadTimeout' })
    const child = (await readFile(join(node.root, 'child'), 'utf8')).trim()
    const stat = await readFile(`/proc/${child}/stat`, 'utf8').catch(() => 'gone Z')
    expect(stat).toMatch(/^gone|\) Z/)
  })

  it.each(['k0s', 'exec', 'constructor'])(
    '%s is refused by a node that does not list it',
    async (UpgradeTool) => {
      const answer = await openAttemptStore(node.config).accept(
        prepareFor({ Image: 'host/team/edge', UpgradeTool }),
      )
      expect(answer).toMatchObject({ Value: 'refused', Code: 'UnsupportedTool' })
    },
  )

  it('a tool that this release does not know is refused although the node lists it', async () => {
    const config = { ...node.config, policy: { ...node.config.policy, tools: ['future'] } }
    const prepare = prepareFor({ Image: 'host/team/edge', UpgradeTool: 'future' })
    expect(await openAttemptStore(config).accept(prepare)).toMatchObject({ Code: 'UnsupportedTool' })
  })
})
