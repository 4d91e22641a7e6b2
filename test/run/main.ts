import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBinaries } from '../controlplane/build.ts'
import { bound } from '../harness/program.ts'
import { judge, LAYERS, type Layer, type LayerResult, needsRealPlane, type Report } from './layers.ts'
import { REPORT_FILE } from './reporter.ts'
import { countsOf, tableOf } from './table.ts'

/** `npm test [-- LAYER…]`: every layer, or those named, in order; ends with a table and a line that counts. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
const INTERRUPTED = 130
const isCi = process.env.CI === 'true' || process.env.CI === '1'

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !LAYERS.some((layer) => layer.name === name))
const layers = LAYERS.filter((layer) => chosen.length === 0 || chosen.includes(layer.name))

// A second Ctrl-C is not caught any more: it ends us at once, and the kernel ends what we started.
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

if (unknown.length > 0) {
  const names = [...new Set(LAYERS.map(({ name }) => name))].join(', ')
  console.error(`Unknown layer ${unknown.join(', ')}: choose from ${names}`)
  process.exitCode = 2
} else {
  const results = await runAll()
  console.log(`\n${tableOf(results)}\n`)
  console.log(countsOf(results))
  if (interrupted.signal.aborted) process.exitCode = INTERRUPTED
  else if (results.some(({ failed }) => failed > 0) || results.every(({ passed }) => passed === 0))
    process.exitCode = 1
}

async function runAll(): Promise<LayerResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'uh-test-'))
  const results: LayerResult[] = []
  let binaries: Awaited<ReturnType<typeof ensureBinaries>> | undefined
  try {
    for (const layer of layers) {
      if (interrupted.signal.aborted) break
      if (needsRealPlane(layer))
        binaries ??= await ensureBinaries({ env: process.env, say: console.log, signal: interrupted.signal })
      const absent = needsRealPlane(layer) && binaries && 'absent' in binaries ? binaries.reason : undefined
      results.push(await runLayer(layer, folder, absent))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return results
}

async function runLayer(layer: Layer, folder: string, absent: string | undefined): Promise<LayerResult> {
  console.log(`\n=== ${layer.name}${layer.plane ? ` on ${layer.plane}` : ''}${absent ? `: ${absent}` : ''}`)
  const file = join(folder, `${layer.project}.json`)
  const started = performance.now()
  const exitCode = await vitest(layer.project, { [REPORT_FILE]: file, TMPDIR: folder })
  const seconds = (performance.now() - started) / 1000
  return judge({ layer, report: readReport(file), exitCode, seconds, ...(absent ? { absent } : {}) }, isCi)
}

/** One project in a process of its own, whose temporary files go with ours, and which ends when we do. */
function vitest(project: string, env: Readonly<Record<string, string>>): Promise<number | null> {
  const [program, ...args] = bound([
    process.execPath,
    VITEST,
    'run',
    '--config=test/vitest.config.ts',
    `--project=${project}`,
    '--passWithNoTests',
    '--reporter=default',
    '--reporter=./test/run/reporter.ts',
  ])
  const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } })
  const forward = () => child.kill('SIGTERM')
  interrupted.signal.addEventListener('abort', forward, { once: true })
  return new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).finally(() => interrupted.signal.removeEventListener('abort', forward))
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return undefined
  }
}
