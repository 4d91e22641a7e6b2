import { fileURLToPath } from 'node:url'
import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { call } from './http.ts'
import type { Plane } from './plane.ts'
import { run } from './program.ts'
import { until } from './until.ts'

const HUB_MAIN = fileURLToPath(new URL('../../apps/cloudhub/src/main.ts', import.meta.url))
const JOBS = '/apis/operations.kubeedge.io/v1alpha2/nodeupgradejobs'
const TASKS = '/apis/upgradehub.io/v1alpha1/nodeupgradetasks'
const MERGE = 'application/merge-patch+json'

/** What an operator does with a control plane that has a hub, and what a test sees of it. */
export abstract class Cluster {
  readonly plane: Plane

  constructor(plane: Plane) {
    this.plane = plane
  }

  /** The repository of the installation images. */
  abstract get image(): string
  /** Everything that any hub has logged. */
  abstract get hubLog(): string

  async createJob(name: string, spec: object, apiVersion = 'operations.kubeedge.io/v1alpha2'): Promise<void> {
    const { image } = this
    const upgradeHub = { health: { minReadySeconds: 1 } }
    const body = {
      apiVersion,
      kind: 'NodeUpgradeJob',
      metadata: { name },
      spec: { image, upgradeHub, ...spec },
    }
    const version = apiVersion.split('/')[1] ?? ''
    const answer = await call(this.plane, 'POST', JOBS.replace('v1alpha2', version), { body })
    if (answer.status !== 201) throw new Error(`${name} was refused: ${JSON.stringify(answer.body)}`)
  }

  async job(name: string): Promise<NodeUpgradeJob> {
    return (await call(this.plane, 'GET', `${JOBS}/${name}`)).body as NodeUpgradeJob
  }

  async patchJob(name: string, body: object): Promise<number> {
    return (await call(this.plane, 'PATCH', `${JOBS}/${name}`, { body, contentType: MERGE })).status
  }

  async deleteJob(name: string): Promise<void> {
    const { status } = await call(this.plane, 'DELETE', `${JOBS}/${name}`)
    if (status >= 300) throw new Error(`${name} cannot be deleted: ${status}`)
  }

  /** Waits until a deleted job is gone, with its finalizers. */
  async gone(name: string): Promise<void> {
    const isGone = async () => (await call(this.plane, 'GET', `${JOBS}/${name}`)).status === 404
    await until(`${name} is gone`, isGone, 120_000)
  }

  async tasks(job: string): Promise<NodeUpgradeTask[]> {
    const { body } = await call(this.plane, 'GET', `${TASKS}?fieldSelector=spec.jobName%3D${job}`)
    return (body as { items: NodeUpgradeTask[] }).items
  }

  /** The task of a node, once it is as asked. */
  async task(
    job: string,
    node: string,
    is: (task: NodeUpgradeTask) => boolean = () => true,
  ): Promise<NodeUpgradeTask> {
    const found = async () => (await this.tasks(job)).find((task) => task.spec.nodeName === node && is(task))
    return until(`the task of ${node} in ${job}`, found, 60_000)
  }

  /** Waits for the end of a job; on a miss the failure shows job, tasks and the hub's last words. */
  async finished(name: string, deadlineMs = 90_000): Promise<NodeUpgradeJob> {
    const isFinished = async () => {
      const job = await this.job(name)
      const end = job.status?.conditions?.find(({ type, status }) => type === 'Finished' && status === 'True')
      return end ? job : undefined
    }
    try {
      return await until(`${name} is finished`, isFinished, deadlineMs)
    } catch (error) {
      throw new Error(`${String(error)}\n${await this.picture(name)}`, { cause: error })
    }
  }

  async node(name: string): Promise<{
    spec?: { unschedulable?: boolean }
    metadata: { annotations?: Record<string, string>; labels?: Record<string, string>; uid: string }
    status?: { nodeInfo?: { kubeletVersion?: string } }
  }> {
    return (await call(this.plane, 'GET', `/api/v1/nodes/${name}`)).body as never
  }

  async patchNode(name: string, body: object): Promise<void> {
    const { status, body: answer } = await call(this.plane, 'PATCH', `/api/v1/nodes/${name}`, {
      body,
      contentType: MERGE,
    })
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(answer)}`)
  }

  /** As an operator does it, with an operator's rights. */
  async token(node: string): Promise<string> {
    const argv: [string, ...string[]] = [
      process.execPath,
      HUB_MAIN,
      'token',
      'create',
      '--node',
      node,
      '--log-level=error',
    ]
    const { code, stdout, output } = await run([...argv, '--kubeconfig', this.plane.kubeconfigPath])
    if (code !== 0) throw new Error(`no token for ${node}: ${output}`)
    return stdout.trim()
  }

  async isReady(name: string): Promise<boolean> {
    const { body } = await call(this.plane, 'GET', `/api/v1/nodes/${name}`)
    const { status } = body as { status?: { conditions?: { type: string; status: string }[] } }
    return (
      status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ??
      false
    )
  }

  /** Everything there is to say about a job, for the message of a failed test. */
  async picture(name: string): Promise<string> {
    const job = await this.job(name)
    const tasks = (await this.tasks(name)).map(({ spec, status }) => ({ node: spec.nodeName, ...status }))
    return (
      JSON.stringify({ job: job.status, control: job.control, tasks }, null, 1) + this.hubLog.slice(-6000)
    )
  }
}
