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
const isCi = process.env.CI === 'true' || process.env.CI === '1'

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !LAYERS.some((layer) => layer.name === name))
const layers = LAYERS.filter((layer) => chosen.length === 0 || chosen.includes(layer.name))

if (unknown.length > 0) {
  console.error(
    `Unknown layer ${unknown.join(', ')}: choose from ${[...new Set(LAYERS.map(({ name }) => name))].join(', ')}`,
  )
  process.exitCode = 2
} else {
  const results = await runAll()
  console.log(`\n${tableOf(results)}\n`)
  console.log(countsOf(results))
  if (results.some(({ failed }) => failed > 0) || results.every(({ passed }) => passed === 0))
    process.exitCode = 1
}

async function runAll(): Promise<LayerResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upgrade-hub-test-'))
  const results: LayerResult[] = []
  let binaries: Awaited<ReturnType<typeof ensureBinaries>> | undefined
  try {
    for (const layer of layers) {
      if (needsRealPlane(layer)) binaries ??= await ensureBinaries(process.env, (line) => console.log(line))
      const absent = needsRealPlane(layer) && binaries && 'absent' in binaries ? binaries.reason : undefined
      results.push(await runLayer(layer, join(folder, `${layer.project}.json`), absent))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return results
}

async function runLayer(layer: Layer, file: string, absent: string | undefined): Promise<LayerResult> {
  console.log(
    `\n=== ${layer.name}${layer.plane ? ` on ${layer.plane}` : ''}${absent ? ` cannot run: ${absent}` : ''}`,
  )
  const started = performance.now()
  const exitCode = await vitest(layer.project, file)
  const seconds = (performance.now() - started) / 1000
  return judge({ layer, report: readReport(file), exitCode, seconds, ...(absent ? { absent } : {}) }, isCi)
}

function vitest(project: string, file: string): Promise<number | null> {
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
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, [REPORT_FILE]: file },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    return undefined
  }
}
