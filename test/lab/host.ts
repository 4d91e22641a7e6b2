import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Program, run } from '../harness/program.ts'
import { until } from '../harness/until.ts'
import { makeCgroup, removeCgroup } from './cgroup.ts'
import type { Disk } from './disk.ts'

const ENTER_CGROUP = fileURLToPath(new URL('enter-cgroup.ts', import.meta.url))
const BOOT_MS = 60_000
const COMMAND_MS = 60_000

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly output: string
}

export interface HostPlan {
  /** Of this machine, not only of this run. */
  readonly id: string
  readonly name: string
  readonly disk: Disk
  /** Path of its network namespace. */
  readonly network: string
}

/** A machine with systemd as its init: booted, and killed as by a power cut. */
export class Host {
  readonly name: string
  readonly #plan: HostPlan
  #machine: Program | undefined
  #init = 0

  constructor(plan: HostPlan) {
    this.name = plan.name
    this.#plan = plan
  }

  get isOn(): boolean {
    return this.#machine?.isRunning ?? false
  }

  /** Resolves when its services are started. */
  async boot(): Promise<void> {
    const { id, disk, network, name } = this.#plan
    const nspawn = [
      '/usr/bin/systemd-nspawn',
      '--quiet',
      `--directory=${disk.root}`,
      `--network-namespace-path=${network}`,
      `--machine=${id}`,
      `--hostname=${name}`,
      '--register=no',
      '--keep-unit',
      '--console=pipe',
      '--boot',
    ]
    // In a PID namespace of their own the machine's processes cannot outlive the one that began it.
    const unshare = ['/usr/bin/unshare', '--pid', '--fork', '--kill-child=KILL', '--mount-proc']
    const groups = makeCgroup(id)
    const machine = new Program(id, [process.execPath, ENTER_CGROUP, ...groups, '--', ...unshare, ...nspawn])
    this.#machine = machine
    this.#init = await until(
      `${name} has an init`,
      () => (machine.isRunning ? initOf(machine.pid) : 0),
      BOOT_MS,
    )
    if (this.#init === 0) throw new Error(`${name} does not boot: ${machine.output.slice(-2000)}`)
    const booted = async () =>
      /^(running|degraded)/.test((await this.run('systemctl', 'is-system-running', '--wait')).output)
    await until(`${name} is up`, booted, BOOT_MS)
  }

  /** Runs a program on the host, to its end; never throws for an exit code. */
  run(...argv: [string, ...string[]]): Promise<Ran> {
    return this.runWith(undefined, ...argv)
  }

  /** The same with something on its standard input. */
  runWith(input: string | undefined, ...argv: [string, ...string[]]): Promise<Ran> {
    return run(['nsenter', `--target=${this.#init}`, '--all', '--wd=/', '--', ...argv], {
      timeoutMs: COMMAND_MS,
      ...(input === undefined ? {} : { input }),
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' },
    })
  }

  /** The same for what must work. @throws Error with what it said */
  async must(...argv: [string, ...string[]]): Promise<string> {
    const { code, stdout, output } = await this.run(...argv)
    if (code !== 0)
      throw new Error(`${this.name}: ${argv.join(' ')} ended with ${code}: ${output.slice(-2000)}`)
    return stdout
  }

  /** Every process is gone at once, nothing is written any more, and what was only in memory is lost. */
  async powerCut(): Promise<void> {
    await this.#kill()
    await this.#plan.disk.cut()
  }

  async remove(): Promise<void> {
    await this.#kill()
    await this.#plan.disk.remove()
  }

  /** A file of its disk, whether it is on or off. */
  async read(path: string): Promise<string> {
    return readFile(this.#path(path), 'utf8')
  }

  /** The names in a folder; none where there is no folder. */
  list(path: string): readonly string[] {
    return this.has(path) ? readdirSync(this.#path(path)) : []
  }

  has(path: string): boolean {
    return existsSync(this.#path(path))
  }

  async write(path: string, text: string | Buffer, mode = 0o644): Promise<void> {
    const at = this.#path(path)
    await mkdir(dirname(at), { recursive: true })
    await writeFile(at, text, { mode })
  }

  async link(path: string, to: string): Promise<void> {
    await mkdir(dirname(this.#path(path)), { recursive: true })
    await symlink(to, this.#path(path))
  }

  sync(): Promise<void> {
    return this.#plan.disk.sync()
  }

  #path(path: string): string {
    return join(this.#plan.disk.root, path)
  }

  async #kill(): Promise<void> {
    if (this.#init > 0 && this.isOn) process.kill(this.#init, 'SIGKILL')
    this.#machine?.kill()
    await this.#machine?.exited
    await until(`${this.name} is off`, () => !existsSync(`/proc/${this.#init}/ns`) || this.#init === 0)
    removeCgroup(this.#plan.id)
  }
}

/** unshare, its child systemd-nspawn, its child: the init of the host; 0 while there is none. */
function initOf(pid: number): number | undefined {
  const [nspawn] = childrenOf(pid)
  const [init] = nspawn === undefined ? [] : childrenOf(nspawn)
  return init !== undefined && isInit(init) ? init : undefined
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
}

function isInit(pid: number): boolean {
  return readlinkSync(`/proc/${pid}/exe`).endsWith('/systemd')
}
