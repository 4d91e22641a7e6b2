import { writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { messageOf, systemClock } from '@upgrade-hub/core'
import { runProgram } from '@upgrade-hub/upgrader'
import { parse } from 'yaml'
import { startReaper } from './children.ts'
import { JOB_NAME, jobYaml } from './job.ts'
import { findKubectl, hints } from './kubectl.ts'
import { parentOf, processesOf } from './reaper.ts'
import { showJob } from './show.ts'
import { problemsOf, proveEdge } from './verdict.ts'
import { EDGES, makeWorld, UNLUCKY, type World } from './world.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PARENT_POLL_MS = 500
const JOBS_PATH = '/apis/operations.kubeedge.io/v1alpha2/nodeupgradejobs'

const USAGE = `npm start                 run the demo and stay up until Ctrl-C
npm start -- --exit       end after the job: 0 when it ended as it should
npm start -- --folder D   keep its files in D instead of .demo
`

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { exit: { type: 'boolean' }, folder: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help) return say(USAGE)
  const folder = values.folder ? resolve(values.folder) : join(ROOT, '.demo')
  if (processesOf(folder).length > 0)
    throw new Error(`a demo runs in ${folder} already: stop it, or give another --folder`)
  const stop = stopSignal()
  const reaper = startReaper(folder)
  try {
    return await demo(folder, values.exit ?? false, stop)
  } catch (error) {
    if (!stop.aborted) throw error
    return 130
  } finally {
    say('\nstopping everything that was started')
    await reaper.finish()
  }
}

async function demo(folder: string, exit: boolean, stop: AbortSignal): Promise<number> {
  say('Upgrade Hub: five edge nodes are upgraded, one of them cannot run the new version\n')
  const cleanup = new AsyncDisposableStack()
  try {
    const world = await orStop(makeWorld({ folder, say: (step) => say(`  ${step}`), cleanup }), stop)
    await createJob(world, folder)
    const { tasks } = await showJob(world.client, JOB_NAME, stop)
    const proofs = await Promise.all(EDGES.map((name) => proveEdge(name, world.edgeFolder(name))))
    say('\nOn the nodes themselves:')
    for (const { node, installed, running } of proofs) {
      say(
        `  ${node}  ${installed}  ${running ? 'running' : 'NOT RUNNING'}${node === UNLUCKY ? '  (rolled back)' : ''}`,
      )
    }
    const problems = problemsOf(proofs, tasks, UNLUCKY)
    for (const problem of problems) say(`  WRONG: ${problem}`)
    if (!exit) await stayUp(world, stop)
    return problems.length > 0 ? 1 : 0
  } finally {
    await cleanup.disposeAsync()
  }
}

/** With the user's kubectl where there is one, as a user does it; by the API where not. */
async function createJob(world: World, folder: string): Promise<void> {
  const file = join(folder, 'job.yaml')
  const yaml = jobYaml(world.registry.host)
  await writeFile(file, yaml)
  say(`\n${yaml.replace(/^/gm, '    ').trimEnd()}\n`)
  const kubectl = findKubectl(process.env['PATH'] ?? '')
  say(
    `  KUBECONFIG=${relative(process.cwd(), world.kubeconfig)} kubectl create -f ${relative(process.cwd(), file)}\n`,
  )
  if (kubectl)
    await runProgram(kubectl, ['--kubeconfig', world.kubeconfig, 'create', '-f', file], { timeoutMs: 30_000 })
  else await world.client.raw(JOBS_PATH, { method: 'POST', body: parse(yaml) })
}

async function stayUp(world: World, stop: AbortSignal): Promise<void> {
  say('\nEverything stays up. Try, in another terminal:\n')
  for (const hint of hints(relative(process.cwd(), world.kubeconfig))) say(hint)
  say('\nCtrl-C ends it all.')
  await systemClock.sleep(2 ** 31 - 1, stop).catch(() => undefined)
}

/** Ctrl-C, TERM, a closed terminal, and the end of the npm that started us: a signal to npm alone reaches only npm. */
function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort())
  const starters = startersOf(process.env)
  const watch = setInterval(() => {
    if (startersOf(process.env) !== starters) stop.abort()
  }, PARENT_POLL_MS)
  watch.unref()
  process.stdout.on('error', () => stop.abort())
  return stop.signal
}

/** Who started us: npm does it through a shell, and that shell outlives a killed npm. */
function startersOf(env: NodeJS.ProcessEnv): string {
  return env['npm_lifecycle_event'] ? `${process.ppid} ${parentOf(process.ppid)}` : String(process.ppid)
}

function orStop<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  return new Promise((fulfil, reject) => {
    stop.addEventListener('abort', () => reject(stop.reason as Error), { once: true })
    work.then(fulfil, reject)
  })
}

function say(text: string): 0 {
  process.stdout.write(`${text}\n`)
  return 0
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    console.error(`demo: ${messageOf(error)}`)
    process.exitCode = 1
  },
)
