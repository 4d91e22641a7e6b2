import { JOB_KIND, type NodeUpgradeJob, type NodeUpgradeTask, TASK_KIND } from '@upgrade-hub/api'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { Informer, type KubeClient, resource } from '@upgrade-hub/kube'
import { headline, renderTable, rowsOf } from './table.ts'

const JOBS = resource<NodeUpgradeJob>(JOB_KIND)
const TASKS = resource<NodeUpgradeTask>(TASK_KIND)

export interface Ended {
  readonly job: NodeUpgradeJob
  readonly tasks: readonly NodeUpgradeTask[]
}

/** Shows a job live until it is finished: redrawn in place on a terminal, changed lines only in a pipe. */
export async function showJob(client: KubeClient, name: string, signal: AbortSignal): Promise<Ended> {
  const stop = new AbortController()
  const both = AbortSignal.any([signal, stop.signal])
  const shared = { client, clock: systemClock, log: silentLogger }
  const jobs = new Informer({ ...shared, resource: JOBS, fieldSelector: `metadata.name=${name}` })
  const tasks = new Informer({ ...shared, resource: TASKS, fieldSelector: `spec.jobName=${name}` })
  const screen = new Screen(process.stdout.isTTY)
  const { promise, resolve, reject } = Promise.withResolvers<Ended>()
  signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  const draw = () => {
    const job = jobs.get(name)
    if (!job) return
    screen.draw([headline(job), ...renderTable(rowsOf(tasks.list()), screen.isTerminal)])
    if (job.status?.conditions?.some(({ type, status }) => type === 'Finished' && status === 'True')) {
      resolve({ job, tasks: tasks.list() })
    }
  }
  jobs.onChange(draw)
  tasks.onChange(draw)
  const running = [jobs.run(both), tasks.run(both)].map((loop) => loop.catch(() => undefined))
  try {
    return await promise
  } finally {
    stop.abort()
    await Promise.all(running)
  }
}

class Screen {
  readonly isTerminal: boolean
  #drawn = 0
  #seen = new Set<string>()

  constructor(isTerminal: boolean) {
    this.isTerminal = isTerminal
  }

  draw(lines: readonly string[]): void {
    if (!this.isTerminal) return this.#append(lines)
    const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A` : ''
    process.stdout.write(`${up}${lines.map((line) => `\u001b[2K${line}\n`).join('')}\u001b[0J`)
    this.#drawn = lines.length
  }

  #append(lines: readonly string[]): void {
    for (const line of lines
      .map((text) => text.replace(/\s{2,}/g, '  '))
      .filter((text) => !this.#seen.has(text))) {
      this.#seen.add(line)
      process.stdout.write(`${line}\n`)
    }
  }
}
