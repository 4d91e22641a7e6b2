import { rfc3339 } from '@upgrade-hub/core'
import { KubeError } from '@upgrade-hub/kube'
import { isFinished } from '@upgrade-hub/rollout'
import type { Command, Context } from '../cli/command.ts'
import { EXIT, exitCodeOfJob } from '../cli/exit-codes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { jobName, oneWord } from '../cluster/names.ts'
import { NotFoundError } from '../errors.ts'
import { jobReport } from '../status/job-report.ts'
import { heading, nodeTable } from '../status/render.ts'
import { Changes, changeText } from './changes.ts'
import { JobMirror } from './job-mirror.ts'
import { LiveScreen } from './live-screen.ts'

const REFRESH_MS = 500
/** The first whole state. */
const SYNC_MS = 60_000
/** Lines of the screen beside the nodes. */
const AROUND = 8

/** `watch JOB`: painted over on a terminal, a line for every change elsewhere, until the job is over. */
export const watch: Command = {
  name: 'watch',
  usage: 'JOB',
  summary: 'follows a job to its end: a live table on a terminal, a line for every change in a pipe',
  help: ['--timeout DURATION   give up after this time, with exit code 3'],
  flags: { timeout: { type: 'string' } },
  formats: ['wide', 'json'],
  argument: 'job',
  async run(context) {
    const name = jobName(oneWord(context.positionals, 'watch takes one job'))
    const timeoutMs = context.flags.duration('timeout') ?? Number.POSITIVE_INFINITY
    const cluster = await context.cluster()
    // Asked first: a mirror would wait for ever for what is not there or not allowed.
    await Promise.all([cluster.job(name), cluster.tasks({ job: name }, 1)])
    const mirror = new JobMirror(cluster, name, context.clock)
    const stop = new AbortController()
    const running = mirror.run(AbortSignal.any([stop.signal, context.signal]))
    try {
      return await follow(context, { cluster, mirror, name, timeoutMs })
    } finally {
      stop.abort()
      await running
    }
  },
}

interface Followed {
  readonly cluster: Cluster
  readonly mirror: JobMirror
  readonly name: string
  readonly timeoutMs: number
}

async function follow(context: Context, { cluster, mirror, name, timeoutMs }: Followed): Promise<number> {
  const { clock, signal, terminal, format } = context
  const isPainted = terminal.isLive && format !== 'json'
  if (!isPainted) tellChanges(context, cluster, mirror)
  await synced(context, mirror)
  using screen = isPainted ? new LiveScreen(terminal) : undefined
  const until = clock.monotonic() + timeoutMs
  for (;;) {
    const { job } = mirror
    if (!job) throw new NotFoundError(`nodeupgradejob/${name} was deleted`)
    screen?.paint(frame(context, cluster, mirror))
    // What ended with the job may arrive a moment after it.
    if (isFinished(job) && mirror.index.counts.inProgress === 0) return exitCodeOfJob(job)
    if (clock.monotonic() >= until) return EXIT.running
    await clock.sleep(REFRESH_MS, signal)
  }
}

async function synced({ clock, signal }: Context, mirror: JobMirror): Promise<void> {
  const late = new AbortController()
  const timer = clock.after(SYNC_MS, () =>
    late.abort(new KubeError('KUBE_NO_ANSWER', 'the API server did not send its state in time')),
  )
  try {
    await mirror.synced(AbortSignal.any([signal, late.signal]))
  } finally {
    timer.cancel()
  }
}

function frame({ terminal, format }: Context, cluster: Cluster, mirror: JobMirror): string[] {
  const { job, index, silentMs } = mirror
  if (!job) return []
  const now = cluster.now()
  const most = Math.max(5, terminal.size().rows - AROUND)
  const report = jobReport(job, index, { now, most })
  const silence = Math.round(silentMs / 1000)
  const note =
    silence > 0
      ? [terminal.paint('yellow', `no word from the API server for ${silence} s; trying again`)]
      : []
  return [
    ...heading(report, terminal, now),
    ...note,
    '',
    ...nodeTable(report, terminal, { now, wide: format === 'wide' }),
  ]
}

function tellChanges({ terminal, format }: Context, cluster: Cluster, mirror: JobMirror): void {
  const changes = new Changes()
  const tell = (line: ReturnType<Changes['ofJob']>) => {
    if (!line) return
    const time = rfc3339(cluster.now())
    terminal.print(format === 'json' ? JSON.stringify({ time, ...line }) : changeText(line, time))
  }
  mirror.onChange({
    job: (job) => tell(job && changes.ofJob(job, cluster.now())),
    task: (task) => tell(changes.ofTask(task, cluster.now())),
  })
}
