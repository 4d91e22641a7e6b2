import { X509Certificate } from 'node:crypto'
import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'

const LOOK_EVERY_MS = 3_600_000
/** The part of its life after which a certificate is renewed. */
const RENEW_AFTER = 2 / 3
const WARN_BEFORE_MS = 7 * 86_400_000

/** True once two thirds of the certificate's life are over. `now` is ms since the epoch. */
export function isRenewalDue(certPem: string, now: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(certPem)
  const from = validFromDate.getTime()
  return now >= from + RENEW_AFTER * (validToDate.getTime() - from)
}

/**
 * Has the node's certificate renewed in time, by a process of its own: the X.509 library is larger than this daemon. A
 * failure is tried again every hour, and is an error in the log from a week before the end.
 */
export async function keepCertificateFresh(options: {
  readCertificate: () => Promise<string>
  renew: (signal: AbortSignal) => Promise<void>
  clock: Clock
  log: Logger
  signal: AbortSignal
}): Promise<void> {
  const { readCertificate, renew, clock, log, signal } = options
  while (!signal.aborted) {
    try {
      if (isRenewalDue(await readCertificate(), clock.now())) {
        await renew(signal)
        log.info({}, 'certificate renewed')
      }
    } catch (error) {
      await reportFailure(error, options)
    }
    await clock.sleep(LOOK_EVERY_MS, signal).catch(() => undefined)
  }
}

async function reportFailure(
  error: unknown,
  options: { readCertificate: () => Promise<string>; clock: Clock; log: Logger },
): Promise<void> {
  const fields = { error: messageOf(error), leftMs: await lifeLeft(options) }
  if (fields.leftMs > WARN_BEFORE_MS) options.log.warn(fields, 'certificate not renewed yet')
  else options.log.error(fields, 'certificate not renewed and soon over: join this node again')
}

async function lifeLeft(options: { readCertificate: () => Promise<string>; clock: Clock }): Promise<number> {
  try {
    const { validToDate } = new X509Certificate(await options.readCertificate())
    return validToDate.getTime() - options.clock.now()
  } catch {
    return 0
  }
}
