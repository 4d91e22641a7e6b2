import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { must } from './tools.ts'

/** Only what is fsynced may count on being there after a power cut: the file system never writes by itself. */
const MOUNT = 'loop,commit=3600'

/** The disk of a node: an ext4 image with everything that the node ever wrote, over folders that are only read. */
export class Disk {
  /** The node's `/`. */
  readonly root: string
  readonly #folder: string
  readonly #layers: readonly string[]
  #image: string
  #cuts = 0

  private constructor(folder: string, layers: readonly string[]) {
    this.#folder = folder
    this.#layers = layers
    this.root = join(folder, 'root')
    this.#image = join(folder, 'disk.img')
  }

  /** @param layers what is below, highest first */
  static async create(folder: string, layers: readonly string[], megabytes = 256): Promise<Disk> {
    const disk = new Disk(folder, layers)
    for (const name of ['root', 'disk']) await mkdir(join(folder, name), { recursive: true })
    await must('truncate', `--size=${megabytes}M`, disk.#image)
    await must('mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=1,lazy_journal_init=1', disk.#image)
    await disk.#mount()
    return disk
  }

  /** What a power cut leaves: the image as it is at this moment, without what was only in memory. Nothing may run. */
  async cut(): Promise<void> {
    const copy = join(this.#folder, `cut-${++this.#cuts}.img`)
    await must('cp', '--sparse=always', this.#image, copy)
    await this.#unmount()
    await rm(this.#image)
    this.#image = copy
    await this.#mount()
  }

  /** As a host that has been up for a while: everything until now is on the disk. */
  async sync(): Promise<void> {
    await must('sync', '--file-system', join(this.#folder, 'disk'))
  }

  async remove(): Promise<void> {
    await this.#unmount()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #mount(): Promise<void> {
    const disk = join(this.#folder, 'disk')
    await must('mount', '-o', MOUNT, this.#image, disk)
    await mkdir(join(disk, 'upper'), { recursive: true })
    await mkdir(join(disk, 'work'), { recursive: true })
    const layers = `lowerdir=${this.#layers.join(':')},upperdir=${disk}/upper,workdir=${disk}/work`
    await must('mount', '-t', 'overlay', '-o', layers, 'overlay', this.root)
  }

  async #unmount(): Promise<void> {
    await must('umount', this.root)
    await must('umount', join(this.#folder, 'disk'))
  }
}
