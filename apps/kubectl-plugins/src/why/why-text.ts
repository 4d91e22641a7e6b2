import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { conditionOf, haltOf, isAccepted, type SlimNode, statusOf, taskState } from '@upgrade-hub/rollout'
import { type NodeLine, nodeLine } from '../status/node-line.ts'
import { cleanLine } from '../text/clean.ts'
import { ageOf } from '../text/time.ts'

/** What is known about a node that somebody asks after. */
export interface Known {
  readonly name: string
  /** Undefined when there is none, or it may not be read. */
  readonly node: SlimNode | undefined
  readonly isNodeReadable: boolean
  readonly task: NodeUpgradeTask | undefined
  readonly job: NodeUpgradeJob | undefined
  /** Names of nodes of the job that are upgrading now. */
  readonly busy: readonly string[]
  readonly isEnrolled: boolean
  readonly now: number
}

/** In one sentence why a node does not move, or what it does. Pure. */
export function whyText(known: Known): string {
  const { name, node, task, job, isNodeReadable } = known
  if (!task) {
    if (isNodeReadable && !node) return `${name} does not move because there is no Node of that name.`
    return `${name} does not move because no job concerns it: kubectl nodeupgrade plan says which would.`
  }
  const of = `in job ${task.spec.jobName}`
  if (!job)
    return `${name} does not move because its job ${task.spec.jobName} is gone; what is left of it is being cleared away.`
  const reason = whyOf(known, task, job)
  return `${name} ${reason.moves ? 'is moving' : 'does not move'} ${of}: ${reason.because}.`
}

interface Because {
  readonly moves: boolean
  readonly because: string
}

const still = (because: string): Because => ({ moves: false, because })

function whyOf(known: Known, task: NodeUpgradeTask, job: NodeUpgradeJob): Because {
  const { now, node } = known
  const { deadline } = statusOf(task)
  const line = nodeLine(task, now)
  switch (taskState(task, now)) {
    case 'ended':
      return still(endedText(task, line, now))
    case 'refused':
      return still(`it is refused (${line.reason}: ${line.message})`)
    case 'proceeding':
      return { moves: true, because: `${line.doing}, since ${ageOf(line.since, now)}` }
    case 'resting':
      return still(
        `it waits for its next try at ${deadline ?? 'an unknown time'} (${[line.reason, line.message].filter(Boolean).join(': ')})`,
      )
    case 'unreachable':
      return still(unreachableText(known))
    case 'confirming':
      return still('it is prepared and waits for somebody to run edgeadm ctl confirm on the node')
    case 'preparing':
      return { moves: true, because: `${line.doing}, since ${ageOf(line.since, now)}` }
    case 'answered':
      return { moves: true, because: 'the node has answered, and the hub is about to act on it' }
    case 'waiting':
      return jobText(job) ?? waveText(job, task) ?? still(`it waits for its turn: ${slotText(known)}`)
    case 'prepared':
      return (
        jobText(job) ??
        waveText(job, task) ??
        nodeText(node, task) ??
        still(`it is prepared and waits for its turn: ${slotText(known)}`)
      )
  }
}

function endedText(task: NodeUpgradeTask, { reason, message, since }: NodeLine, now: number): string {
  const { phase } = statusOf(task)
  const why = [reason, message].filter(Boolean).join(': ')
  const mayRetry = phase === 'Failure' || phase === 'Unknown'
  const next = mayRetry ? `; kubectl nodeupgrade retry ${task.spec.jobName} tries it again` : ''
  return `it ended ${phase} ${ageOf(since, now)} ago (${why})${next}`
}

function unreachableText({ node, isEnrolled, name }: Known): string {
  if (!isEnrolled)
    return `no edgehub of this name has enrolled (cloudhub token create --node ${name}, then edgeadm join on the node)`
  if (node && !node.ready)
    return 'it is not Ready, and its edgehub does not answer: look at its power, its network and its edgehub'
  return 'its edgehub does not answer: on the node, systemctl status edgehub and journalctl -u edgehub'
}

/** What holds the whole job. */
function jobText(job: NodeUpgradeJob): Because | undefined {
  const accepted = conditionOf(job, 'Accepted')
  if (!accepted) return still('no hub has looked at the job yet (kubectl nodeupgrade doctor says why)')
  if (!isAccepted(job))
    return still(`the job is not run (${accepted.reason}: ${cleanLine(accepted.message)})`)
  if (job.metadata.deletionTimestamp) return still('the job is being deleted')
  const progressing = conditionOf(job, 'Progressing')
  const halt = haltOf(job)
  if (halt === 'paused' && job.control?.paused)
    return still('the job is paused (kubectl nodeupgrade resume lets it go on)')
  const holds = progressing && (progressing.status === 'False' || progressing.reason === 'TooManyUnavailable')
  if (halt !== 'none' || holds)
    return still(`the job holds (${progressing?.reason ?? halt}: ${cleanLine(progressing?.message ?? '')})`)
  return undefined
}

function waveText({ status }: NodeUpgradeJob, { spec }: NodeUpgradeTask): Because | undefined {
  const own = status?.waves?.[spec.wave ?? 0]
  if (!own || own.state === 'Upgrading' || own.name === status?.currentWave) return undefined
  return still(`its wave ${own.name} has not begun; ${status?.currentWave ?? 'an earlier one'} is on`)
}

function nodeText(node: SlimNode | undefined, task: NodeUpgradeTask): Because | undefined {
  if (!node) return undefined
  if (node.deleting) return still('the Node is being deleted')
  if (node.hold && node.hold.taskUID !== task.metadata.uid)
    return still(`another upgrade holds it (task ${cleanLine(node.hold.task)})`)
  return node.ready ? undefined : still('it is not Ready')
}

function slotText({ busy }: Known): string {
  if (busy.length === 0) return 'the job lets no more nodes prepare just now'
  const more = busy.length > 3 ? ` and ${busy.length - 3} more` : ''
  return `the places of the job are taken by ${busy.slice(0, 3).join(', ')}${more}`
}
