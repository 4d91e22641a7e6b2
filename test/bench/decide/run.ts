import type { NodeUpgradeJob, NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import {
  decideJob,
  JobIndex,
  jobPlan,
  planHash,
  resolveTargets,
  type SlimNode,
  taskObject,
} from '@upgrade-hub/rollout'
import { aJob, aNode, condition, NOW, time } from '@upgrade-hub/rollout/testing'
import { atMost, type BenchReport, plain } from '../report.ts'

const EVENTS = 20_000
const SMALL = 100
const LARGE = 10_000
const CONDITIONS = [
  condition('Accepted', 'True', 'Accepted'),
  condition('Progressing', 'True', 'Upgrading'),
  condition('Paused', 'False', 'NotPaused'),
]

/** The stages that a task goes through while the bench looks on. */
const STEPS: readonly Partial<TaskStatus>[] = [
  { phase: 'Pending' },
  { phase: 'Pending', stage: 'Prepare', attempt: 1, intent: { seq: 1, verb: 'prepare' } },
  { phase: 'InProgress', stage: 'Proceed', attempt: 1, intent: { seq: 2, verb: 'proceed' } },
  { phase: 'Successful', reason: 'Upgraded', attempt: 1 },
]

/** What one event of a task costs the decisions of its job, in a small and in a large one: A B A B, CPU time. */
export function run(): Promise<BenchReport> {
  const runs = [SMALL, LARGE, SMALL, LARGE].map((size) => ({ size, cost: costOf(size) }))
  const best = (size: number) => Math.min(...runs.filter((run) => run.size === size).map(({ cost }) => cost))
  return Promise.resolve({
    bench: 'decide',
    options: { events: EVENTS },
    figures: [
      plain(`CPU of an event, ${SMALL} tasks`, best(SMALL), 'us'),
      plain(`CPU of an event, ${LARGE} tasks`, best(LARGE), 'us'),
      atMost('the large job / the small one', best(LARGE) / best(SMALL), 'times', 1.2),
    ],
  })
}

/** Microseconds of CPU an event, after a warm-up. */
function costOf(size: number): number {
  const { job, tasks, nodes } = scene(size)
  const index = new JobIndex()
  for (const task of tasks) index.upsert(task, NOW, nodes.get(task.spec.nodeName))
  const play = (events: number) => {
    for (let event = 0; event < events; event++) {
      const task = tasks[event % Math.min(size, SMALL)]
      const step = STEPS[Math.floor(event / SMALL) % STEPS.length]
      if (!task || !step) continue
      index.upsert(
        { ...task, status: { ...step, phase: step.phase ?? 'Pending' } },
        NOW,
        nodes.get(task.spec.nodeName),
      )
      const pace = { flushedAt: NOW, releasedAt: NOW }
      decideJob({
        job,
        index,
        node: (name) => nodes.get(name),
        now: NOW,
        mayPlan: true,
        complete: true,
        pace,
      })
    }
  }
  play(EVENTS / 4)
  const before = process.cpuUsage()
  play(EVENTS)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / EVENTS
}

function scene(size: number): {
  job: NodeUpgradeJob
  tasks: NodeUpgradeTask[]
  nodes: Map<string, SlimNode>
} {
  const names = Array.from({ length: size }, (_, at) => `node-${String(at).padStart(5, '0')}`)
  const base = aJob({ nodeNames: names, concurrency: 50, failureTolerate: '1' })
  const nodes = new Map(names.map((name) => [name, aNode({ name, uid: `${name}-uid` })]))
  const targets = resolveTargets(base, jobPlan(base), {
    get: (name) => nodes.get(name),
    list: () => [...nodes.values()],
  })
  const tasks = targets.map((target) => taskObject(base, jobPlan(base), target))
  const plan = { total: size, hash: planHash(tasks.map(({ metadata }) => metadata.name)) }
  return {
    job: { ...base, status: { plan, conditions: CONDITIONS, startTime: time(0) } },
    tasks,
    nodes,
  }
}
