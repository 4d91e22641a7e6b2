import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { bound } from '../harness/program.ts'
import { type Environment, KUBERNETES_VERSION, moduleFolder, type Recipe } from './binaries.ts'

const PROGRESS_MS = 10_000

export interface BuildOptions {
  readonly env: Environment
  /** Takes a line of progress every ten seconds. */
  readonly say: (line: string) => void
  readonly signal?: AbortSignal
}

/** `go1.26.8`, or undefined where there is no Go. */
export async function goVersion(env: Environment): Promise<string | undefined> {
  const go = spawn('go', ['env', 'GOVERSION'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  go.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return (await ended(go)) === 0 ? text.trim() : undefined
}

/**
 * One `go build` into `output`. Both programs of Kubernetes report a placeholder version, and kubectl complains about
 * it, unless the linker is told the real one.
 *
 * @throws Error with the compiler's last words
 */
export async function compile(
  recipe: Recipe,
  output: string,
  { env, say, signal }: BuildOptions,
): Promise<void> {
  const started = performance.now()
  const flags = ['-v', '-trimpath', '-ldflags', linkerFlags(), '-o', output]
  const [program, ...args] = bound(['go', 'build', ...flags, recipe.package])
  const go = spawn(program, args, {
    cwd: moduleFolder(recipe),
    env: { ...env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal ? { signal } : {}),
  })
  const said: string[] = []
  createInterface({ input: go.stderr }).on('line', (line) => said.push(line))
  const progress = setInterval(
    () => say(`  ${recipe.name}: ${said.length} packages, ${elapsed(started)}`),
    PROGRESS_MS,
  )
  const code = await ended(go).finally(() => clearInterval(progress))
  if (code !== 0)
    throw new Error(`go build ${recipe.package}: ${said.slice(-3).join(' / ') || `code ${code}`}`)
  say(`  ${recipe.name}: done, ${elapsed(started)}`)
}

function linkerFlags(): string {
  const [major, minor] = KUBERNETES_VERSION.slice(1).split('.')
  const variables = { gitVersion: KUBERNETES_VERSION, gitMajor: major, gitMinor: minor }
  const sets = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  )
  return ['-s', '-w', ...sets].join(' ')
}

function elapsed(since: number): string {
  const seconds = Math.round((performance.now() - since) / 1000)
  return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`
}

/** The exit code; undefined when the program could not be started or died of a signal. */
function ended(child: ChildProcess): Promise<number | undefined> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('close', (code) => resolve(code ?? undefined))
  })
}
