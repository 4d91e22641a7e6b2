import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CRDS as OUR_CRDS, type TaskStatus } from '@upgrade-hub/api'
import { microTime, rfc3339 } from '@upgrade-hub/core'
import { CRDS, LEASES } from '@upgrade-hub/kube'
import {
  aJob,
  aTask,
  condition,
  PREPARED,
  PREPARING,
  PROCEEDING,
  reported,
} from '@upgrade-hub/rollout/testing'
import { expect, it } from 'vitest'
import { edgeNode, edgeNodes } from './testing/nodes.ts'
import { Stage } from './testing/stage.ts'

const PAGE = fileURLToPath(new URL('../../../docs/kubectl.md', import.meta.url))
const COLUMNS = 110
const FRAME = '\u001b[J'
const SHOW_CURSOR = '\u001b[?25h'

it('docs/kubectl.md shows what the plugins print (vitest -u writes it anew)', {
  timeout: 60_000,
}, async () => {
  const outputs = { plan: await plan(), watch: await watch(), doctor: await doctor() }
  const fresh = Object.entries(outputs).reduce(
    (page, [name, text]) =>
      page.replace(
        new RegExp(`(<!-- output: ${name} -->\n\`\`\`text\n)[\\s\\S]*?(\`\`\`\n)`),
        (_, before: string, after: string) => `${before}${text}${after}`,
      ),
    readFileSync(PAGE, 'utf8'),
  )
  await expect(fresh).toMatchFileSnapshot(PAGE)
})

async function plan(): Promise<string> {
  await using stage = await Stage.start()
  stage.putNodes(
    ...edgeNodes(6),
    edgeNode('edge-07', { ready: false }),
    edgeNode('edge-08', { version: 'v1.12.0' }),
  )
  earlier(stage)
  const waves = [
    { name: 'canary', size: 1, soakSeconds: 600 },
    { name: 'half', size: '50%', approval: 'Required' },
  ]
  const spec = {
    version: 'v1.12.0',
    labelSelector: {},
    upgradeHub: { allNodes: true, maxConcurrent: 2, waves },
  }
  const input = JSON.stringify({
    apiVersion: 'operations.kubeedge.io/v1alpha2',
    kind: 'NodeUpgradeJob',
    metadata: { name: 'spring' },
    spec,
  })
  return `$ kubectl nodeupgrade plan -f spring.yaml\n${(await stage.run(['plan', '-f', '-'], { input })).out}`
}

/** A job that is over, whose nodes took 20 s to prepare and 40 s to upgrade. */
function earlier(stage: Stage): void {
  const time = (seconds: number) => rfc3339(stage.clock.now() - 86_400_000 + seconds * 1_000)
  const job = aJob(
    {},
    {
      metadata: { name: 'winter' },
      status: {
        conditions: [condition('Complete', 'True', 'Completed'), condition('Finished', 'True', 'Completed')],
        summary: { successful: 1 },
      },
    },
  )
  const actions = [
    { action: 'BackUp', time: time(22) },
    { action: 'Upgrade', time: time(60) },
  ]
  stage.putJob(job)
  stage.putTasks(
    aTask(
      {
        phase: 'Successful',
        attempt: 1,
        startTime: time(0),
        completionTime: time(60),
        edge: { attempt: 1, seq: 9, actions },
      },
      job,
    ),
  )
}

async function watch(): Promise<string> {
  await using stage = await Stage.start()
  const now = stage.clock.now()
  const ago = (seconds: number) => rfc3339(now - seconds * 1_000)
  const job = aJob(
    { nodeNames: [] },
    {
      metadata: { name: 'spring', uid: 'u' },
      status: {
        conditions: [
          condition('Accepted', 'True', 'Accepted'),
          { ...condition('Progressing', 'True', 'Upgrading'), message: 'nodes are being upgraded' },
        ],
        plan: { total: 6, hash: '' },
        summary: { total: 6, successful: 1, failed: 1, unknown: 0, inProgress: 2, pending: 2, skipped: 0 },
        waves: [
          { name: 'canary', size: 1, state: 'Done' },
          { name: 'half', size: 3, state: 'Upgrading', approvedBy: 'ann' },
          { name: 'rest', size: 2, state: 'Pending' },
        ],
        startTime: ago(700),
      },
    },
  )
  const states: Partial<TaskStatus>[] = [
    {
      ...reported('Succeeded'),
      phase: 'Successful',
      reason: 'Upgraded',
      startTime: ago(700),
      completionTime: ago(640),
    },
    {
      ...reported('RolledBack', 'HealthFailed'),
      phase: 'Failure',
      reason: 'HealthFailed',
      completionTime: ago(45),
    },
    { ...PROCEEDING, hold: ago(31), edge: { attempt: 1, seq: 7, step: 'E9' } },
    { ...PROCEEDING, hold: ago(12), edge: { attempt: 1, seq: 7, step: 'E6' } },
    { ...PREPARED, startTime: ago(40) },
    { ...PREPARING, startTime: ago(8), edge: { attempt: 1, seq: 2, step: 'E3', percent: 63 } },
  ]
  stage.putJob(job)
  stage.putTasks(...states.map((status, at) => aTask(status, job, `edge-0${at + 1}`, at)))
  // Without any patience it paints once.
  const { out } = await stage.run(['watch', 'spring', '--timeout=0s'], { live: COLUMNS })
  const [, frame = ''] = out.split(FRAME)
  return `$ kubectl nodeupgrade watch spring\n${frame.replace(SHOW_CURSOR, '')}`
}

async function doctor(): Promise<string> {
  await using stage = await Stage.start()
  stage.putNodes(...edgeNodes(2))
  for (const crd of OUR_CRDS) stage.server.put(CRDS, crd as never)
  stage.server.put(LEASES, {
    metadata: { name: 'upgrade-hub-controllers', namespace: 'upgrade-hub' },
    spec: { holderIdentity: 'cloudhub-0', leaseDurationSeconds: 15, renewTime: microTime(stage.clock.now()) },
  } as never)
  const answers = (path: string, body: object) =>
    stage.server.plan({ status: 200, body }, (request) => request.path === path, 99)
  answers('/version', { major: '1', minor: '37', gitVersion: 'v1.37.2' })
  answers('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { status: { allowed: true } })
  return `$ kubectl nodeupgrade doctor\n${(await stage.run(['doctor'])).out}`
}
