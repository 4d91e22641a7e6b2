import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EdgeConfig, parseEdgeConfig } from '@upgrade-hub/upgrader'
import { stringify } from 'yaml'
import { run } from '../../harness/program.ts'
import { must } from '../tools.ts'

const INIT = fileURLToPath(new URL('init.cjs', import.meta.url))
const HOOK = fileURLToPath(new URL('hook.cjs', import.meta.url))
const RUN_MS = 60_000
/** What is fsynced counts, and nothing else: the file system writes nothing by itself. */
const MOUNT = 'loop,commit=3600'
/** Where a node sees its own disk, whichever it is: journals and backups name whole paths. */
const ROOT = '/mnt'

/** A call of an updater before which the power may go, and the disk as it would leave it. */
export interface Cut {
  readonly image: string
  readonly operation: string
  /** From the node's root. */
  readonly path: string
}

/** How one power-on of a node ended. */
export interface Boot {
  readonly code: number | null
  readonly signal: string | null
  /** The agent; unknown when the power went. */
  readonly isRunning?: boolean
  /** Where the power went again. */
  readonly cut?: Cut
}

export interface CutOptions {
  /** Holds everything of the test; the node's files are in a folder of its own below it. */
  readonly folder: string
  /** The bundled program. */
  readonly edgeadm: string
  /** `host:port` of the registry, asked by HTTP. */
  readonly registry: string
}

/** A node whose disk is an image, without systemd: hundreds of power cuts take a minute. It is off between two runs. */
export class CutNode {
  readonly #options: CutOptions
  readonly #image: string
  readonly #disk: string

  private constructor(options: CutOptions, image: string, disk: string) {
    this.#options = options
    this.#image = image
    this.#disk = disk
  }

  /** A new disk with an installed agent. */
  static async create(options: CutOptions, program: string): Promise<CutNode> {
    const image = join(options.folder, `${randomUUID()}.img`)
    await must('truncate', '--size=48M', image)
    await must('mkfs.ext4', '-q', '-F', image)
    const node = await CutNode.#of(options, image)
    await node.#put('bin/edgecore', program, 0o755)
    await node.#put('etc/config/edgecore.yaml', 'modules: {}\n', 0o644)
    await node.#put('etc/config/edgehub.yaml', stringify(configOf(ROOT, options.registry)), 0o600)
    await must('sync', '--file-system', node.#disk)
    return node
  }

  /** A node with a disk that a power cut left; it is copied, so that several nodes may begin with it. */
  static async after(options: CutOptions, cut: Cut): Promise<CutNode> {
    const image = join(options.folder, `${randomUUID()}.img`)
    await must('cp', '--sparse=always', cut.image, image)
    return CutNode.#of(options, image)
  }

  static async #of(options: CutOptions, image: string): Promise<CutNode> {
    const disk = join(options.folder, randomUUID())
    await mkdir(disk)
    await must('mount', '-o', MOUNT, image, disk)
    return new CutNode(options, image, disk)
  }

  /** Its configuration as it is seen from outside, for whoever reads its disk or plays edgehub. */
  get config(): EdgeConfig {
    return parseEdgeConfig(stringify(configOf(this.#disk, this.#options.registry)))
  }

  /** The program that is installed. */
  async program(): Promise<string> {
    return readFile(join(this.#disk, 'bin/edgecore'), 'utf8')
  }

  /** The names in a folder; none where there is no folder. */
  async list(path: string): Promise<readonly string[]> {
    return readdir(join(this.#disk, path)).catch(() => [])
  }

  /** Files that have not got their names, from the node's root. */
  async halfMade(): Promise<readonly string[]> {
    const all = await readdir(this.#disk, { recursive: true })
    return all.filter((name) => /\.(tmp|dead|partial)$/.test(name))
  }

  /** Carries an attempt on while the machine stays up, and notes every cut that could have been. */
  async carryOn(id: string): Promise<readonly Cut[]> {
    const cuts = join(this.#options.folder, randomUUID())
    await mkdir(cuts)
    await this.#run(['attempt', 'run', '--id', id], { cuts })
    return readCuts(cuts)
  }

  /**
   * Switches it on after a power cut, until all is done that can be done without a hub; or until the power goes again, at
   * the n-th call, when there are as many.
   */
  async boot(cutAt?: number): Promise<Boot> {
    const cuts = join(this.#options.folder, randomUUID())
    await mkdir(cuts)
    const command = ['attempt', 'resume']
    if (cutAt === undefined) return this.#run(command, { isBoot: true })
    const report = await this.#run(command, { isBoot: true, cuts, call: cutAt })
    const [cut] = await readCuts(cuts)
    return cut ? { ...report, cut } : report
  }

  async remove(): Promise<void> {
    await must('umount', this.#disk)
    await rm(this.#disk, { recursive: true })
    await rm(this.#image)
  }

  async #run(
    command: readonly string[],
    how: { isBoot?: boolean; cuts?: string; call?: number },
  ): Promise<Boot> {
    const { folder, edgeadm } = this.#options
    const bootId = join(folder, randomUUID())
    if (how.isBoot) await writeFile(bootId, `${randomUUID()}\n`)
    const hook = how.cuts === undefined ? [] : ['--require', HOOK]
    const plan = {
      disk: this.#disk,
      root: ROOT,
      ...(how.isBoot ? { bootId } : {}),
      agent: [join(ROOT, 'bin/edgecore'), join(ROOT, 'starts.log')],
      pidFile: PID_FILE,
      log: join(folder, 'updaters.log'),
      updater: [
        process.execPath,
        ...hook,
        edgeadm,
        ...command,
        '--config',
        join(ROOT, 'etc/config/edgehub.yaml'),
      ],
      env: {
        PATH: '/usr/bin:/bin',
        // One call after the other, so that a cut is at the same place each time.
        UV_THREADPOOL_SIZE: '1',
        CUT_IMAGE: this.#image,
        CUT_FOLDER: how.cuts ?? '',
        CUT_ROOT: ROOT,
        CUT_AT: String(how.call ?? 0),
      },
    }
    const unshare = [
      '/usr/bin/unshare',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child=KILL',
      '--mount-proc',
    ] as const
    const { stdout, output } = await run([...unshare, process.execPath, INIT, JSON.stringify(plan)], {
      timeoutMs: RUN_MS,
    })
    if (!stdout.startsWith('{')) throw new Error(`the node did not run: ${output}`)
    return JSON.parse(stdout) as Boot
  }

  async #put(path: string, text: string, mode: number): Promise<void> {
    const at = join(this.#disk, path)
    await mkdir(dirname(at), { recursive: true })
    await writeFile(at, text)
    await chmod(at, mode)
  }
}

const PID_FILE = join(ROOT, 'run/edgecore.pid')

async function readCuts(folder: string): Promise<readonly Cut[]> {
  const text = await readFile(join(folder, 'cuts.jsonl'), 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Cut)
}

function configOf(root: string, registry: string): object {
  return {
    nodeName: 'edge-1',
    hub: { websocket: 'wss://127.0.0.1:1', https: 'https://127.0.0.1:1' },
    certificates: { ca: '/ca', cert: '/cert', key: '/key' },
    registry: { plainHttp: [registry], allow: [registry] },
    components: [
      {
        name: 'edgecore',
        binary: join(root, 'bin/edgecore'),
        service: {
          manager: 'process',
          args: [join(root, 'starts.log')],
          pidFile: join(root, 'run/edgecore.pid'),
          logFile: join(root, 'log/edgecore.log'),
        },
        stopSeconds: 1,
        state: { config: join(root, 'etc/config/edgecore.yaml') },
      },
    ],
    paths: { state: join(root, 'state'), etc: join(root, 'etc'), run: join(root, 'run') },
    detach: 'session',
  }
}
