import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findKubectl } from '../../apps/demo/src/kubectl.ts'
import { processesOf } from '../../apps/demo/src/reaper.ts'
import { Program, run, until } from '../harness/index.ts'
import { findKubectls } from '../harness/kubectls.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAIN = join(ROOT, 'apps/demo/src/main.ts')
const DEMO_MS = 180_000

/** PATH without a kubectl, as on a machine that has none. */
const withoutKubectl = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => findKubectl(folder) === undefined)
  .join(delimiter)

describe('npm start', { timeout: 2 * DEMO_MS }, () => {
  let folder: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'demo-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const nothingIsLeft = () =>
    until('nothing of the demo runs', () => processesOf(folder).length === 0, 30_000)

  it('upgrades four nodes, rolls the fifth back, and leaves no process behind, also without a kubectl', async () => {
    const { code, output } = await run([process.execPath, MAIN, '--exit', '--folder', folder], {
      env: { ...process.env, PATH: withoutKubectl },
      timeoutMs: DEMO_MS,
    })
    expect(code, output).toBe(0)
    expect(output).toMatch(/edge-4 {2}v1\.23\.1 {2}running/)
    expect(output).toMatch(/edge-5 {2}v1\.22\.0 {2}running {2}\(rolled back\)/)
    expect(processesOf(folder)).toEqual([])
  })

  it('stays up for stock kubectl, and ends with the npm that started it', async () => {
    const npm = new Program('npm start', ['npm', 'start', '--', '--folder', folder], { cwd: ROOT })
    await npm.says(/Everything stays up/, DEMO_MS)
    for (const kubectl of await findKubectls()) await tryOut(kubectl.path, folder, kubectl.version)
    // Nobody can pass this one on: npm is gone, the shell that it started us with is not.
    npm.kill('SIGKILL')
    await npm.exited
    expect(await nothingIsLeft()).toBe(true)
  })

  it('leaves no process behind when it is killed in the middle of its start', async () => {
    const demo = new Program('demo', [process.execPath, MAIN, '--folder', folder])
    await demo.says(/a hub with/, DEMO_MS)
    demo.kill('SIGKILL')
    await demo.exited
    expect(await nothingIsLeft()).toBe(true)
  })
})

/** What the demo proposes to try, and what an operator does next. */
async function tryOut(program: string, folder: string, version: string): Promise<void> {
  const kubeconfig = join(folder, 'kubeconfig')
  const path = [dirname(program), process.env['PATH'] ?? ''].join(delimiter)
  const kubectl = async (args: string[], input?: string, env: Record<string, string> = {}) =>
    run([program, '--kubeconfig', kubeconfig, ...args], {
      env: { ...process.env, PATH: path, ...env },
      ...(input === undefined ? {} : { input }),
      timeoutMs: 120_000,
    })
  const fine = async (args: string[], input?: string) => {
    const { code, stdout, output } = await kubectl(args, input)
    expect(code, `${version}: ${args.join(' ')}\n${output}`).toBe(0)
    return stdout
  }
  expect(await fine(['get', 'nuj,nut,nodes'])).toMatch(/spring-upgrade +v1\.23\.1 +Completed +5\/5 +1/)
  expect(await fine(['describe', 'nuj', 'spring-upgrade'])).toContain('CompletedWithFailures')
  expect(await fine(['explain', 'nuj.spec'])).toContain('failureTolerate')
  expect(await fine(['get', 'events'])).toContain('spring-upgrade')

  const second = `back-${version.replace('.', '-')}`
  const image = /image: (\S+)/.exec(readFileSync(join(folder, 'job.yaml'), 'utf8'))?.[1] ?? ''
  const job = {
    apiVersion: 'operations.kubeedge.io/v1alpha1',
    kind: 'NodeUpgradeJob',
    metadata: { name: second },
    spec: {
      version: 'v1.22.0',
      image,
      nodeNames: ['edge-1', 'edge-5'],
      upgradeHub: { versionPolicy: 'AllowDowngrade', health: { minReadySeconds: 1 } },
    },
  }
  await fine(['create', '-f', '-'], JSON.stringify(job))
  await fine(['wait', '--for=condition=Complete', `nuj/${second}`, '--timeout=100s'])

  const editor = `${process.execPath} ${join(ROOT, 'test/harness/edit-version.mjs')}`
  const edited = await kubectl(['edit', 'nuj', second], undefined, { KUBE_EDITOR: editor })
  expect(edited.code, edited.output).not.toBe(0)
  expect(edited.output).toContain("spec fields are not allowed to update once it's created")
  await fine(['patch', 'nuj', second, '--type=merge', '-p', '{"control":{"cancelled":true}}'])
}
