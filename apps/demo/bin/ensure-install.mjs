// Runs before `npm start` and `npm test` on whatever Node the machine has (20 or later), so it is plain JavaScript that
// imports nothing of the project. It brings node_modules in line with package-lock.json, the Node 24 that runs
// everything else included.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_NODE = 20
const NEEDED_NODE = 24

/** Why the packages must be installed, or undefined when node_modules is what the lock says. */
function reasonToInstall(root, runtimeMajor = NEEDED_NODE) {
  const wanted = readLock(join(root, 'package-lock.json'))
  if (wanted === undefined)
    throw new Error('package-lock.json is missing or damaged: restore it from the repository')
  const present = readLock(join(root, 'node_modules', '.package-lock.json'))
  if (present === undefined) return 'nothing is installed yet'
  for (const [path, entry] of Object.entries(wanted.packages)) {
    const reason = path === '' ? undefined : differs(path, entry, present.packages[path])
    if (reason !== undefined) return reason
  }
  if (runtimeMajor < NEEDED_NODE && !existsSync(join(root, 'node_modules', '.bin', 'node')))
    return `Node ${NEEDED_NODE} is not installed`
  return undefined
}

/** A package for another platform is rightly absent: npm writes it in the lock for every platform. */
function differs(path, wanted, present) {
  if (present === undefined) return wanted.optional ? undefined : `${path} is not installed`
  const same =
    wanted.version === present.version &&
    wanted.integrity === present.integrity &&
    wanted.link === present.link
  return same ? undefined : `${path} is another version`
}

function readLock(file) {
  try {
    const lock = JSON.parse(readFileSync(file, 'utf8'))
    return typeof lock.packages === 'object' && lock.packages !== null ? lock : undefined
  } catch {
    return undefined
  }
}

/** npm's own program when npm started us; it runs on the machine's Node, never on the one it is about to replace. */
function npmCommand(env) {
  if (env.npm_execpath?.endsWith('.js')) return [env.npm_node_execpath ?? process.execPath, env.npm_execpath]
  return ['npm']
}

/**
 * `--ignore-scripts`: no dependency needs an install script, so none gets to run. `--include=…`: a machine-wide setting
 * that leaves optional packages out would leave Node 24 out, and one that leaves dev packages out the tests.
 */
function install(root) {
  const [program, ...before] = npmCommand(process.env)
  const args = [
    ...before,
    'ci',
    '--ignore-scripts',
    '--include=optional',
    '--include=dev',
    '--loglevel=error',
  ]
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: 'inherit' })
    child.once('error', (error) =>
      reject(
        new Error(
          `npm could not be started (${error.message}): install Node ${OLDEST_NODE} or later, with npm`,
        ),
      ),
    )
    child.once('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`npm ci ended with ${signal ?? `code ${code}`}: its own messages above say why`))
    })
  })
}

async function main(root) {
  const major = Number(process.versions.node.split('.')[0])
  if (major < OLDEST_NODE)
    throw new Error(`Node ${process.versions.node} is too old: install Node ${OLDEST_NODE} or later`)
  const reason = reasonToInstall(root, major)
  if (reason === undefined) return
  console.error(`Installing packages (${reason}) …`)
  await install(root)
  const left = reasonToInstall(root, major)
  if (left !== undefined)
    throw new Error(
      `${left}, although npm ci succeeded: this platform may not be supported (${process.platform} ${process.arch}); install Node ${NEEDED_NODE} yourself and try again`,
    )
}

main(fileURLToPath(new URL('../../..', import.meta.url))).catch((error) => {
  console.error(`upgrade-hub: ${error.message}`)
  process.exitCode = 1
})
