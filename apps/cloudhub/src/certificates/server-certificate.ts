import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import type { Ca, Issued } from '@upgrade-hub/pki'
import { slept } from '../slept.ts'

/** PEM, as `node:tls` takes it. */
export interface ServerMaterial {
  readonly cert: string
  readonly key: string
}

export interface ServerNames {
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
}

export interface ServerCertificateOptions {
  readonly ca: Ca
  readonly names: ServerNames
  readonly validDays: number
  readonly clock: Clock
  readonly log: Logger
}

/** Renewed after two thirds of its life. */
const RENEW_AFTER = 2 / 3
/** Timers are at most 24 days long, and a clock may jump: look once an hour. */
const LOOK_EVERY_MS = 3_600_000

/** A server certificate of the hub's own CA that replaces itself before it expires. Its key never leaves the process. */
export class ServerCertificate {
  readonly #options: ServerCertificateOptions
  readonly #followers = new Set<(material: ServerMaterial) => void>()
  #issued: Issued
  #renewAt: number

  private constructor(options: ServerCertificateOptions, issued: Issued) {
    this.#options = options
    this.#issued = issued
    this.#renewAt = renewalOf(options.clock.now(), issued)
  }

  static async issue(options: ServerCertificateOptions): Promise<ServerCertificate> {
    return new ServerCertificate(
      options,
      await options.ca.issueServer({ ...options.names, validDays: options.validDays }),
    )
  }

  get current(): ServerMaterial {
    return { cert: this.#issued.certPem, key: this.#issued.keyPem }
  }

  get notAfter(): Date {
    return this.#issued.notAfter
  }

  /** Calls `apply` with each new certificate, until the returned function is called. */
  follow(apply: (material: ServerMaterial) => void): () => void {
    this.#followers.add(apply)
    return () => void this.#followers.delete(apply)
  }

  /** Renews until the signal aborts; a failure is logged and tried again at the next look. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    while (await slept(clock, LOOK_EVERY_MS, signal)) {
      try {
        if (clock.now() >= this.#renewAt) await this.renew()
      } catch (error) {
        log.error(
          { error: messageOf(error), notAfter: this.notAfter },
          'server certificate could not be renewed',
        )
      }
    }
  }

  /** Issues anew at once and hands the new certificate to all followers. */
  async renew(): Promise<void> {
    const { ca, names, validDays, clock, log } = this.#options
    this.#issued = await ca.issueServer({ ...names, validDays })
    this.#renewAt = renewalOf(clock.now(), this.#issued)
    for (const apply of this.#followers) apply(this.current)
    log.info({ notAfter: this.notAfter }, 'server certificate renewed')
  }
}

function renewalOf(now: number, issued: Issued): number {
  return now + (issued.notAfter.getTime() - now) * RENEW_AFTER
}
