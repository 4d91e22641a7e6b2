// Runs a plugin on whatever Node kubectl's PATH has, so this is plain JavaScript that imports nothing of the project. An
// older Node looks for the one that the packages brought, and hands over to it.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import module from 'node:module'
import { constants, homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NEEDED_NODE = 24
const EX_CONFIG = 78
const HERE = dirname(realpathSync(fileURLToPath(import.meta.url)))
const MAIN = join(HERE, '..', 'src', 'main.ts')

/**
 * @param program which of the plugins: the file's name without `kubectl-`
 * @param first words before those of the command line
 */
export async function launch(program, ...first) {
  if (Number(process.versions.node.split('.')[0]) >= NEEDED_NODE) {
    // Half of the time of a short run is compiling. In a folder of the user's own: what is in it is run.
    module.enableCompileCache(join(homedir(), '.kube', 'cache', 'kubectl-nodeupgrade'))
    process.argv.splice(1, 1, MAIN, program, ...first)
    return void (await import(MAIN))
  }
  const node = shippedNode(HERE)
  if (node === undefined) {
    process.stderr.write(
      `PLUGIN_NODE_TOO_OLD: kubectl ${program} needs Node ${NEEDED_NODE}, and this is ${process.versions.node}: ` +
        `put Node ${NEEDED_NODE} or later first on PATH, or run npm ci in the folder of the plugins\n`,
    )
    process.exitCode = EX_CONFIG
    return
  }
  handOver(node, [join(HERE, `kubectl-${program}`), ...first, ...process.argv.slice(2)])
}

/** `node_modules/.bin/node` of this folder or of one above it. */
function shippedNode(folder) {
  const candidate = join(folder, 'node_modules', '.bin', 'node')
  if (existsSync(candidate)) return candidate
  const above = dirname(folder)
  return above === folder ? undefined : shippedNode(above)
}

/** Signals reach the program that does the work, and its end is ours. */
function handOver(node, args) {
  const child = spawn(node, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', (error) => {
    process.stderr.write(`PLUGIN_NODE_TOO_OLD: ${node} cannot be started: ${error.message}\n`)
    process.exitCode = EX_CONFIG
  })
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0)
  })
}
