import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Fleet } from '../harness/fleet.ts'
import { describePlanes, kubectl, run } from '../harness/index.ts'
import { commandsOf, fencedBlocks, wordsOf } from '../harness/markdown.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PAGES = ['README.md', 'docs/beside-kubeedge.md'].map((page) => join(ROOT, page))
const JOB = 'spring-upgrade'
const EDGES = ['edge-1', 'edge-2']
const program = (app: string) => join(ROOT, `apps/${app}/src/main.ts`)

/** Commands that another test runs, and which. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'kubectl apply -k manifests': 'test/system/manifests.test.ts',
}

describePlanes('the commands of the README', (plane) => {
  let fleet: Fleet
  const ran = new Set<string>()
  let token = ''

  beforeAll(async () => {
    fleet = await Fleet.start(plane)
    await fleet.addEdges(EDGES)
  })
  afterAll(() => fleet?.stop())

  /** Runs a line of a page with stock kubectl, the job's file on standard input where it names one. */
  const runKubectl = async (command: string) => {
    ran.add(command)
    const [, ...words] = wordsOf(command)
    const [yaml = ''] = fencedBlocks(join(ROOT, 'README.md'), 'yaml')
    const args = words.map((word) => (word === 'job.yaml' ? '-' : word))
    const named = args.map((word) => (word === 'NAME' ? JOB : word))
    return kubectl(plane, named, { ...(args.includes('-') ? { input: yaml } : {}), timeoutMs: 330_000 })
  }

  const lines = PAGES.flatMap(commandsOf)
  const kubectlLines = lines.filter((line) => line.startsWith('kubectl ') && !Object.hasOwn(ELSEWHERE, line))

  it('make a token', async () => {
    const command = 'cloudhub token create --node edge-1'
    ran.add(command)
    const [, ...args] = wordsOf(command.replace('edge-1', 'edge-new'))
    const { code, stdout, output } = await run([
      process.execPath,
      program('cloudhub'),
      ...args,
      '--kubeconfig',
      plane.kubeconfigPath,
      '--log-level=error',
    ])
    expect(code, output).toBe(0)
    token = stdout.trim()
    expect(token.split('.')).toHaveLength(4)
  })

  it('join an edge with it', async () => {
    const command = 'edgeadm join --hub hub.example.com:30010 --https-port 30012 --node-name edge-1 --token -'
    ran.add(command)
    const { websocket, https } = fleet.ports
    const here = command
      .replace('hub.example.com:30010', `127.0.0.1:${websocket}`)
      .replace('30012', String(https))
      .replace('edge-1', 'edge-new')
    const [, ...args] = wordsOf(here)
    const root = join(fleet.folder, 'edge-new')
    const { code, output } = await run([process.execPath, program('edgeadm'), ...args, '--root', root], {
      input: token,
    })
    expect(code, output).toBe(0)
    expect(existsSync(join(root, 'etc/kubeedge/config/edgehub.yaml'))).toBe(true)
  })

  it('run a job to its end, show it, and stop it, each without an error', { timeout: 400_000 }, async () => {
    const isDelete = (command: string) => Number(command.startsWith('kubectl delete '))
    for (const command of kubectlLines.toSorted((a, b) => isDelete(a) - isDelete(b))) {
      const { code, output } = await runKubectl(command)
      expect(code, `${command}\n${output}\n${await fleet.picture(JOB)}`).toBe(0)
    }
    for (const name of EDGES) expect(fleet.installed(fleet.edges.get(name)!)).toBe('v1.23.0')
  })

  it('are all run', () => {
    const left = lines.filter((line) => !ran.has(line) && !Object.hasOwn(ELSEWHERE, line))
    expect(left).toEqual([])
  })

  it('come with a job that says what it does', () => {
    const [yaml = ''] = fencedBlocks(join(ROOT, 'README.md'), 'yaml')
    expect(parse(yaml)).toMatchObject({ kind: 'NodeUpgradeJob', metadata: { name: JOB } })
  })
})
