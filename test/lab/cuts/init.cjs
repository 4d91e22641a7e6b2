/**
 * The first process of a node in a PID namespace of its own, whose argument is a plan in JSON. A boot (`bootId` is a file
 * with another boot's identity) resumes before it starts the agent, as the boot unit does; else the agent runs first.
 */
const { spawn, spawnSync } = require('node:child_process')
const { openSync, readdirSync, readFileSync, rmSync } = require('node:fs')

const { setTimeout: delay } = require('node:timers/promises')

const MARKER = 'UPGRADE_HUB_SERVICE'
const plan = JSON.parse(process.argv[2])

void main().then((report) => console.log(JSON.stringify(report)))

async function main() {
  bind(plan.disk, plan.root)
  if (!plan.bootId) startAgent()
  else {
    bind(plan.bootId, '/proc/sys/kernel/random/boot_id')
    // It is in memory on a real machine.
    rmSync(`${plan.root}/run`, { recursive: true, force: true })
  }
  const ended = await updater()
  if (ended.signal === 'SIGKILL') return ended
  if (!isAgentRunning()) startAgent()
  return { ...ended, isRunning: await comesUp() }
}

function bind(from, to) {
  const { status } = spawnSync('/usr/bin/mount', ['--bind', from, to])
  if (status !== 0) throw new Error(`cannot mount ${from} at ${to}`)
}

function updater() {
  const log = openSync(plan.log, 'a')
  const [program, ...args] = plan.updater
  const child = spawn(program, args, { env: plan.env, stdio: ['ignore', log, log] })
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })))
}

function startAgent() {
  const [program, ...args] = plan.agent
  spawn(program, args, {
    detached: true,
    stdio: 'ignore',
    env: { ...plan.env, [MARKER]: plan.pidFile },
  }).unref()
}

/** A process that is born, or becomes another program, has no environment for a moment: one look may miss it. */
async function comesUp() {
  for (let looks = 0; looks < 200; looks++) {
    if (isAgentRunning()) return true
    await delay(50)
  }
  return false
}

function isAgentRunning() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== '1')
  return pids.some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`${MARKER}=${plan.pidFile}`)
    } catch {
      return false
    }
  })
}
