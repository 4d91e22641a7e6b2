import { randomUUID } from 'node:crypto'
import { type Clock, historyId, isVersion, parseImage, rfc3339 } from '@upgrade-hub/core'
import type { Prepare } from '@upgrade-hub/protocol'
import type { EdgeConfig } from '../config.ts'
import { StepError } from '../errors.ts'
import { bootId, monotonicMs } from '../host/boot.ts'
import { makeFolder } from '../host/durable.ts'
import type { Ports } from '../steps/context.ts'
import { Inbox } from '../store/inbox.ts'
import { attemptIds, loadAttempt } from '../store/load.ts'
import { attemptPaths } from '../store/paths.ts'
import { viewOf } from '../store/view.ts'
import type { AttemptView } from '../types.ts'
import { runAttempt } from './run-attempt.ts'

const PERMIT_MS = 10 * 60 * 1000

/** What a person at this node asks for. */
export interface LocalRequest {
  readonly purpose: 'Upgrade' | 'RollBack'
  readonly version: string
  /** Empty when a backup is the source. */
  readonly image: string
  readonly digest?: string
  readonly component: string
  readonly minReadySeconds: number
}

export interface LocalOptions {
  readonly config: EdgeConfig
  readonly request: LocalRequest
  readonly ports: Ports
  /** The last question before the agent is stopped. */
  readonly confirm: () => Promise<boolean>
}

/** The same attempt as the hub's, by hand: prepare, ask, proceed. No hub is told. @throws LockHeldError, StepError */
export async function runLocalAttempt({
  config,
  request,
  ports,
  confirm,
}: LocalOptions): Promise<AttemptView> {
  const prepare = prepareOf(request, nameOf(ports.clock))
  const id = prepare.HistoryID
  const inbox = new Inbox(attemptPaths(config, id))
  await makeFolder(attemptPaths(config, id).folder)
  await inbox.writePrepare(prepare, true)
  const { step } = await runAttempt({ config, id, ports })
  if (step === 'prepared') {
    if (await confirm()) await inbox.writePermit(await permitNow())
    else await inbox.passGate('cancel')
    await runAttempt({ config, id, ports })
  }
  return viewNow(config, id)
}

/** The attempts that were begun by hand. */
export async function openLocalAttempts(config: EdgeConfig): Promise<readonly AttemptView[]> {
  const found = await Promise.all((await attemptIds(config)).map((id) => loadAttempt(config, id)))
  return found
    .filter((one) => one !== undefined)
    .filter(({ local }) => local)
    .map(viewOf)
}

async function viewNow(config: EdgeConfig, id: string): Promise<AttemptView> {
  const found = await loadAttempt(config, id)
  if (!found) throw new StepError('StateUnreadable', `${id} went away`)
  return viewOf(found)
}

/** By the time, for people; unique even when the clock is wrong. */
function nameOf(clock: Clock): string {
  return `manual-${rfc3339(clock.now()).replaceAll(/[^0-9]/g, '')}-${randomUUID().slice(0, 4)}`
}

async function permitNow() {
  return { intentSeq: 2, epoch: 0, boot: await bootId(), validUntilMs: monotonicMs() + PERMIT_MS }
}

function prepareOf(request: LocalRequest, task: string): Prepare {
  const { purpose, version, image, digest, component, minReadySeconds } = request
  if (!isVersion(version)) throw new StepError('BadRequest', `${version} is not a version`)
  if (image !== '') parseImage(image)
  const limits = { checkSeconds: 0, downloadSeconds: 0, confirmSeconds: 0 }
  return {
    UpgradeID: task,
    HistoryID: historyId(task, 1),
    Version: version,
    UpgradeTool: 'keadm',
    Image: image,
    ImageDigest: digest ?? '',
    RequireConfirmation: false,
    Task: task,
    TaskUID: task,
    NodeUID: 'local',
    Attempt: 1,
    IntentSeq: 1,
    Component: component,
    Purpose: purpose,
    CheckItems: [],
    Health: { minReadySeconds },
    Timeouts: {
      ...limits,
      upgradeSeconds: minReadySeconds + 300,
      rollbackSeconds: minReadySeconds + 300,
      verifySeconds: 0,
    },
    VersionPolicy: 'UpgradeOnly',
    Digests: {},
  }
}
