import { existsSync } from 'node:fs'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { withBuildLock } from '../controlplane/lock.ts'
import { Program } from '../harness/program.ts'

const SUITE = 'bookworm'
const MIRROR = 'http://deb.debian.org/debian'
/** In the name of the cached folder: another list is another root. */
const PACKAGES = ['systemd', 'systemd-sysv', 'dbus', 'iproute2', 'ca-certificates']
/** What a node does by itself and a test does not want to wait for. */
const MASKED = ['apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'e2scrub_all.timer']
const TIMEOUT_MS = 600_000

/** A Debian with systemd, made once per machine and then only read. */
export async function debianRoot(say: (line: string) => void): Promise<string> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'upgrade-hub', 'lab')
  const root = join(cache, [SUITE, ...PACKAGES, 'v1'].join('-'))
  if (existsSync(root)) return root
  await mkdir(cache, { recursive: true })
  await withBuildLock(`${root}.lock`, say, async (touch) => {
    if (!existsSync(root)) await make(root, say, touch)
  })
  return root
}

/** It gets its name only when it is whole. */
async function make(root: string, say: (line: string) => void, touch: () => void): Promise<void> {
  const partial = `${root}.partial`
  await rm(partial, { recursive: true, force: true })
  say(`Making a Debian ${SUITE} for the lab, once per machine: about a minute`)
  const program = new Program('debootstrap', [
    '/usr/sbin/debootstrap',
    '--variant=minbase',
    `--include=${PACKAGES.join(',')}`,
    SUITE,
    partial,
    MIRROR,
  ])
  const alive = setInterval(touch, 10_000)
  const patience = setTimeout(() => program.kill(), TIMEOUT_MS)
  const { code } = await program.exited
  clearInterval(alive)
  clearTimeout(patience)
  if (code !== 0) throw new Error(`debootstrap ended with ${code}: ${program.output.slice(-2000)}`)
  await mkdir(join(partial, 'etc/systemd/system'), { recursive: true })
  for (const unit of MASKED) await symlink('/dev/null', join(partial, 'etc/systemd/system', unit))
  await rm(join(partial, 'var/cache/apt/archives'), { recursive: true, force: true })
  await mkdir(dirname(root), { recursive: true })
  await rename(partial, root)
}
