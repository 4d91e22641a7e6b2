/**
 * Loaded into an updater before anything else: at each of its calls that make a disk remember (fsync, rename, link,
 * unlink), and before the call, the disk's image is copied as a power cut would leave it. `CUT_AT` names the one call at
 * which the power really goes.
 */
const { spawnSync } = require('node:child_process')
const { appendFileSync } = require('node:fs')
const promises = require('node:fs/promises')

const { CUT_IMAGE, CUT_FOLDER, CUT_ROOT, CUT_AT } = process.env
const last = Number(CUT_AT ?? 0)
let calls = 0

function before(operation, path) {
  if (!path.startsWith(CUT_ROOT)) return
  calls += 1
  if (last > 0 && calls !== last) return
  const image = `${CUT_FOLDER}/${String(calls).padStart(3, '0')}.img`
  copyAtOnce(CUT_IMAGE, image)
  const path_ = path.slice(CUT_ROOT.length + 1)
  appendFileSync(`${CUT_FOLDER}/cuts.jsonl`, `${JSON.stringify({ image, operation, path: path_ })}\n`)
  if (last > 0) process.kill(process.pid, 'SIGKILL')
}

/** The kernel may write while we read: what two looks agree on is one moment. */
function copyAtOnce(from, to) {
  for (let tries = 0; tries < 20; tries++) {
    spawnSync('/usr/bin/cp', ['--sparse=always', from, to])
    if (spawnSync('/usr/bin/cmp', ['--silent', from, to]).status === 0) return
  }
  throw new Error('the disk does not hold still')
}

for (const operation of ['rename', 'link', 'unlink']) {
  const original = promises[operation]
  promises[operation] = (from, ...rest) => {
    before(operation, String(rest[0] ?? from))
    return original(from, ...rest)
  }
}

const paths = new WeakMap()
const { open } = promises
let isPatched = false
promises.open = async (path, ...rest) => {
  const handle = await open(path, ...rest)
  paths.set(handle, String(path))
  if (!isPatched) patch(Object.getPrototypeOf(handle))
  isPatched = true
  return handle
}

function patch(prototype) {
  for (const operation of ['sync', 'datasync']) {
    const original = prototype[operation]
    prototype[operation] = function () {
      before('fsync', paths.get(this) ?? '')
      return original.call(this)
    }
  }
}
