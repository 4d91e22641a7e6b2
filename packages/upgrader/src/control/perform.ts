import { type Clock, rfc3339 } from '@upgrade-hub/core'
import type { EdgeConfig } from '../config.ts'
import { openSpool } from '../spool.ts'
import { openAttemptStore } from '../store/attempt-store.ts'
import { readHold, removeHold, writeHold } from '../store/hold.ts'
import type { ControlAnswer, ControlRequest } from './request.ts'

/**
 * Does what was asked for. All of it is on disk when this returns, so it is the same whether edgehub does it or, while no
 * edgehub runs, edgeadm itself.
 */
export function performControl(
  config: EdgeConfig,
  request: ControlRequest,
  clock: Clock,
): Promise<ControlAnswer> {
  switch (request.verb) {
    case 'confirm':
      return confirm(config, request.id)
    case 'hold':
      return hold(config, request.reason ?? '', clock)
    case 'release':
      return release(config)
    case 'status':
      return status(config)
  }
}

async function confirm(config: EdgeConfig, id: string | undefined): Promise<ControlAnswer> {
  const store = openAttemptStore(config)
  const waiting = (await store.attempts()).filter(
    (view) => view.step === 'E4c' && (id ?? view.id) === view.id,
  )
  const ids = waiting.map((view) => view.id)
  const [first] = ids
  if (first === undefined) return answer(false, 'nothing waits for a confirmation', { waiting: ids })
  if (ids.length > 1) return answer(false, `several wait, name one: ${ids.join(' ')}`, { waiting: ids })
  await store.confirm(first)
  return answer(true, `${first} is confirmed`, { confirmed: first })
}

async function hold(config: EdgeConfig, reason: string, clock: Clock): Promise<ControlAnswer> {
  const made = { since: rfc3339(clock.now()), reason }
  await writeHold(config, made)
  return answer(true, 'held: until `edgeadm ctl release` the hub may prepare upgrades here but not proceed', {
    hold: made,
  })
}

async function release(config: EdgeConfig): Promise<ControlAnswer> {
  const held = await readHold(config).catch(() => true)
  if (!held) return answer(false, 'this node is not held', {})
  await removeHold(config)
  return answer(true, 'released: the hub may proceed again', {})
}

async function status(config: EdgeConfig): Promise<ControlAnswer> {
  const [found, attempts, undelivered] = await Promise.all([
    readHold(config),
    openAttemptStore(config).attempts(),
    openSpool(config).size(),
  ])
  const waiting = attempts.filter(({ step }) => step === 'E4c').map(({ id }) => id)
  return answer(true, 'edgehub runs', { ...(found ? { hold: found } : {}), waiting, undelivered })
}

function answer(done: boolean, message: string, data: ControlAnswer['data']): ControlAnswer {
  return { done, message, data }
}
