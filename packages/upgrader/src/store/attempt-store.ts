import { rm, stat } from 'node:fs/promises'
import { type Clock, historyId, systemClock } from '@upgrade-hub/core'
import type { Answer, EdgeCode, Prepare, TaskRef } from '@upgrade-hub/protocol'
import { componentOf, type EdgeConfig } from '../config.ts'
import { bootId, monotonicMs } from '../host/boot.ts'
import { makeFolder } from '../host/durable.ts'
import { isLockHeld } from '../host/lock.ts'
import { probeProblem } from '../probe-rules.ts'
import { isUpgradeTool } from '../providers/tools.ts'
import { openSpool } from '../spool.ts'
import type { AttemptStore, AttemptView, Permit } from '../types.ts'
import { readDownload } from './download.ts'
import { isStale, readFloor, writeFloor } from './floor.ts'
import { Inbox } from './inbox.ts'
import { badRequest, isCancelled, isUnderWay, namesOf, newestSeq } from './intent-rules.ts'
import { attemptIds, loadAttempt } from './load.ts'
import { type AttemptPaths, attemptPaths, isAttemptId } from './paths.ts'
import { answer, answerOf, mayPrepareAgain, type Snapshot, viewOf } from './view.ts'

const MAX_PREPARED_MS = 7 * 24 * 60 * 60 * 1000
const MAX_KEPT = 64
/** Attempts that have not ended: each may hold a downloaded release. */
const MAX_OPEN = 16

/** Opens the attempts of this node under `paths.state`. */
export function openAttemptStore(config: EdgeConfig, clock: Clock = systemClock): AttemptStore {
  return new DiskAttemptStore(config, clock)
}

class DiskAttemptStore implements AttemptStore {
  readonly #config: EdgeConfig
  readonly #clock: Clock
  /** One intent at a time: the check and the write that follows it belong together. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(config: EdgeConfig, clock: Clock) {
    this.#config = config
    this.#clock = clock
  }

  accept(prepare: Prepare): Promise<Answer> {
    return this.#serial(() => this.#accept(prepare))
  }

  permit(id: string, permit: Permit): Promise<Answer> {
    const receivedMs = monotonicMs()
    return this.#serial(() => this.#permit(id, permit, receivedMs))
  }

  cancel(ref: TaskRef): Promise<Answer> {
    return this.#serial(() => this.#cancel(ref))
  }

  async confirm(id: string): Promise<boolean> {
    const found = await this.#load(id)
    if (!found?.state.confirm || found.state.step !== 'E4c') return false
    await new Inbox(this.#paths(id)).writeConfirmed(found.state.prepareSeq)
    return true
  }

  async attempts(): Promise<readonly AttemptView[]> {
    const views = await Promise.allSettled((await attemptIds(this.#config)).map((id) => this.attempt(id)))
    // One that cannot be read now must not hide the others.
    return views.flatMap((view) => (view.status === 'fulfilled' && view.value ? [view.value] : []))
  }

  async attempt(id: string): Promise<AttemptView | undefined> {
    const found = await this.#load(id)
    return found && !found.local ? viewOf(found) : undefined
  }

  async isUpdaterAlive(id: string): Promise<boolean> {
    return isAttemptId(id) && (await isLockHeld(this.#paths(id).owner))
  }

  download(id: string): Promise<{ percent: number; bytes: number } | undefined> {
    return isAttemptId(id) ? readDownload(this.#paths(id).download) : Promise.resolve(undefined)
  }

  async prune(): Promise<void> {
    const ids = await attemptIds(this.#config)
    const boot = await bootId()
    const loaded = await Promise.all(ids.map(async (id) => ({ id, found: await this.#load(id) })))
    for (const { id, found } of loaded) {
      if (found && waitedMs(found, boot) > MAX_PREPARED_MS)
        await new Inbox(this.#paths(id)).passGate('cancel')
    }
    const closed = loaded.filter(({ found }) => !found || found.state.step === 'ended')
    const dated = await Promise.all(
      closed.map(async ({ id, found }) => ({
        id,
        epoch: found?.permit?.epoch ?? -1,
        ms: await this.#changedMs(id),
      })),
    )
    // By take, because the wall clock may have jumped: what was never permitted is the least worth remembering.
    const oldestFirst = dated.toSorted((a, b) => a.epoch - b.epoch || a.ms - b.ms)
    for (const { id } of oldestFirst.slice(0, Math.max(0, dated.length - MAX_KEPT))) {
      await rm(this.#paths(id).folder, { recursive: true, force: true })
    }
  }

  async #accept(prepare: Prepare): Promise<Answer> {
    const refuse = (code: EdgeCode, reason: string) =>
      answer(prepare, prepare.IntentSeq, 'refused', { code, reason })
    const problem = badRequest(prepare)
    if (problem) return refuse('BadRequest', problem)
    const refusal = this.#policy(prepare)
    if (refusal) return refuse(...refusal)
    const inbox = new Inbox(this.#paths(prepare.HistoryID))
    const found = await this.#load(prepare.HistoryID)
    if (found?.isLost)
      return found.state.ending
        ? this.#reportAgain(found, prepare.IntentSeq, 'refused')
        : refuse('Busy', 'its record is damaged and is being looked into')
    if (found && (found.local || found.prepare.TaskUID !== prepare.TaskUID))
      return refuse('BadRequest', 'another task has this name')
    if (found && prepare.IntentSeq < newestSeq(found)) return answer(prepare, prepare.IntentSeq, 'stale')
    if (found && prepare.IntentSeq === found.prepare.IntentSeq) return answerOf(found)
    if ((await inbox.gate())?.by === 'cancel') return refuse('Cancelled', 'this attempt was cancelled')
    if (found && !mayPrepareAgain(found.state)) return this.#reportAgain(found, prepare.IntentSeq, 'refused')
    if (found && viewOf(found).pastStop) return refuse('Busy', 'this attempt is under way')
    if (!found && (await this.#openCount()) >= MAX_OPEN)
      return refuse('Busy', `${MAX_OPEN} attempts are open on this node`)
    await makeFolder(this.#paths(prepare.HistoryID).folder)
    await inbox.writePrepare(prepare, false)
    return answer(prepare, prepare.IntentSeq, 'accepted')
  }

  async #permit(id: string, permit: Permit, receivedMs: number): Promise<Answer> {
    const found = await this.#load(id)
    const ref = found?.prepare ?? namesOf(id)
    const refuse = (code: EdgeCode, reason: string) =>
      answer(ref, permit.intentSeq, 'refused', { code, reason })
    if (!found || found.local) return refuse('PreparedStale', 'nothing is prepared here')
    if (permit.intentSeq < newestSeq(found)) return answer(ref, permit.intentSeq, 'stale')
    if (permit.intentSeq === found.permit?.intentSeq) return answerOf(found)
    if (permit.nodeUID !== found.prepare.NodeUID)
      return refuse('NodeReplaced', 'the Node is another than at prepare')
    const take = { nodeUID: permit.nodeUID, epoch: permit.epoch, attempt: id }
    if (isStale(await readFloor(this.#config), take))
      return refuse('StaleEpoch', `epoch ${permit.epoch} is over`)
    await writeFloor(this.#config, take)
    if (found.state.step === 'ended') return this.#reportAgain(found, permit.intentSeq, 'done')
    if (found.gate === 'cancel') return refuse('Cancelled', 'this attempt was cancelled')
    if (found.state.step !== 'prepared' && !isUnderWay(found))
      return refuse('PreparedStale', 'it is not prepared yet')
    const { intentSeq, epoch } = permit
    const validUntilMs = receivedMs + permit.validForSeconds * 1000
    await new Inbox(this.#paths(id)).writePermit({ intentSeq, epoch, boot: await bootId(), validUntilMs })
    return answer(ref, intentSeq, 'accepted')
  }

  async #cancel(ref: TaskRef): Promise<Answer> {
    const id = historyId(ref.Task, ref.Attempt)
    if (!isAttemptId(id))
      return answer(ref, ref.IntentSeq, 'refused', { code: 'BadRequest', reason: 'not an attempt' })
    const inbox = new Inbox(this.#paths(id))
    const before = await inbox.cancel()
    if (before && before.intentSeq === ref.IntentSeq && ref.IntentSeq > 0)
      return answer(ref, ref.IntentSeq, before.value)
    if (before && ref.IntentSeq < before.intentSeq) return answer(ref, ref.IntentSeq, 'stale')
    await makeFolder(this.#paths(id).folder)
    const found = await this.#load(id)
    const value = await this.#cancelValue(found, inbox)
    await inbox.writeCancel({ intentSeq: ref.IntentSeq, value })
    return answer(ref, ref.IntentSeq, value)
  }

  async #cancelValue(found: Snapshot | undefined, inbox: Inbox): Promise<'done' | 'tooLate' | 'tombstoned'> {
    if (found?.state.step === 'ended' && !mayPrepareAgain(found.state))
      return isCancelled(found) ? 'done' : 'tooLate'
    if ((await inbox.passGate('cancel')) === 'stop') return 'tooLate'
    return found ? 'done' : 'tombstoned'
  }

  /** The hub asks about an attempt that is over: it gets the result once more. */
  async #reportAgain(found: Snapshot, seq: number, value: 'refused' | 'done'): Promise<Answer> {
    const { result } = viewOf(found)
    if (result && found.state.proceedSeq > 0) await openSpool(this.#config, this.#clock).put(result)
    return answer(found.prepare, seq, value, found.state.ending)
  }

  #policy({ UpgradeTool, Component, Health }: Prepare): [EdgeCode, string] | undefined {
    if (!isUpgradeTool(UpgradeTool) || !this.#config.policy.tools.includes(UpgradeTool)) {
      return ['UnsupportedTool', `upgradeTool ${UpgradeTool} is not allowed on this node`]
    }
    if (!componentOf(this.#config, Component))
      return ['UnknownComponent', `this node has no component ${Component}`]
    const [problem] = (Health.probes ?? []).flatMap((probe) => probeProblem(probe, this.#config) ?? [])
    if (problem !== undefined) return ['PolicyRefused', problem]
    return undefined
  }

  async #openCount(): Promise<number> {
    return (await this.attempts()).filter(({ phase }) => phase !== 'ended').length
  }

  async #changedMs(id: string): Promise<number> {
    return (await stat(this.#paths(id).folder)).mtimeMs
  }

  async #load(id: string): Promise<Snapshot | undefined> {
    return isAttemptId(id) ? loadAttempt(this.#config, id) : undefined
  }

  #paths(id: string): AttemptPaths {
    return attemptPaths(this.#config, id)
  }

  #serial<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work)
    this.#last = next.catch(() => undefined)
    return next
  }
}

/** How long an attempt has been prepared, in ms of this boot: wall clocks jump, and what a reboot took is not known. */
function waitedMs({ state }: Snapshot, boot: string): number {
  if (state.step !== 'prepared') return 0
  return monotonicMs() - (state.boot === boot ? state.mono : 0)
}
