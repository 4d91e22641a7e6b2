import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type JsonObject, listAt, stringAt } from './json.ts'
import { serverTls, sharedCa, TestApi } from './testing/test-api.ts'

const SERVE = fileURLToPath(new URL('testing/serve.ts', import.meta.url))
const TOKEN = 'durable'
const ROUNDS = 4
const WRITERS = 16
const ACKNOWLEDGED_A_ROUND = 60

interface Served {
  readonly url: string
  readonly child: ChildProcess
  readonly agent: Agent
}

let dataDir: string
const children = new Set<ChildProcess>()

async function serve(): Promise<Served> {
  const ca = await sharedCa()
  const child = spawn(process.execPath, [SERVE], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.add(child)
  child.stdin?.end(JSON.stringify({ dataDir, tls: await serverTls(ca), token: TOKEN }))
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer]
  return { url: line.toString().trim(), child, agent: new Agent({ connect: { ca: ca.certPem } }) }
}

async function call({ url, agent }: Served, method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const answer = await request(url + path, {
    method,
    dispatcher: agent,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': type },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: answer.statusCode, body: (await answer.body.json()) as JsonObject }
}

const MAPS = '/api/v1/namespaces/default/configmaps'

/** Writes without pause until the server dies; what was acknowledged is noted with the value that was. */
async function write(served: Served, writer: string, acknowledged: Map<string, string>): Promise<void> {
  for (let i = 0; ; i++) {
    const name = `${writer}-${i}`
    try {
      const created = await call(served, 'POST', MAPS, { metadata: { name }, data: { value: 'created' } })
      if (created.status === 201) acknowledged.set(name, 'created')
      const patched = await call(served, 'PATCH', `${MAPS}/${name}`, { data: { value: 'patched' } })
      if (patched.status === 200) acknowledged.set(name, 'patched')
    } catch {
      return
    }
  }
}

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'embedded-durable-'))
})

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
  rmSync(dataDir, { recursive: true, force: true })
})

describe('what is acknowledged', () => {
  it('is there after kill -9 in the middle of writing, and revisions never go back', async () => {
    const acknowledged = new Map<string, string>()
    let revision = 0
    for (let round = 0; round < ROUNDS; round++) {
      const served = await serve()
      const goal = acknowledged.size + ACKNOWLEDGED_A_ROUND
      const writers = Array.from({ length: WRITERS }, (_, i) =>
        write(served, `r${round}-w${i}`, acknowledged),
      )
      while (acknowledged.size < goal) await new Promise((resolve) => setImmediate(resolve))
      served.child.kill('SIGKILL')
      await Promise.all([...writers, once(served.child, 'exit')])
      await served.agent.destroy()

      const again = await serve()
      const { body: list } = await call(again, 'GET', MAPS)
      const found = new Map(
        listAt(list, 'items').map((item) => [
          stringAt(item, 'metadata', 'name'),
          stringAt(item, 'data', 'value'),
        ]),
      )
      const lost = [...acknowledged].filter(([name, value]) => {
        // A patch whose answer did not arrive may be there or not.
        return found.get(name) !== value && !(value === 'created' && found.get(name) === 'patched')
      })
      expect(lost).toEqual([])
      expect(Number(stringAt(list, 'metadata', 'resourceVersion'))).toBeGreaterThanOrEqual(revision)
      revision = Number(stringAt(list, 'metadata', 'resourceVersion'))
      again.child.kill('SIGKILL')
      await once(again.child, 'exit')
      await again.agent.destroy()
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(ROUNDS * ACKNOWLEDGED_A_ROUND)
  })

  it('is in one process at a time', async () => {
    const first = await serve()
    await expect(TestApi.start({ dataDir })).rejects.toMatchObject({ code: 'EMBEDDED_STORAGE' })
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    await first.agent.destroy()
    const second = await TestApi.start({ dataDir })
    await second.stop()
  })
})
