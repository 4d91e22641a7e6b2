import type { Clock, ImageReference, Logger } from '@upgrade-hub/core'
import type { Platform, Prepare, Result } from '@upgrade-hub/protocol'
import type { Component, EdgeConfig } from '../config.ts'
import type { Lock } from '../host/lock.ts'
import type { AttemptState, Facts } from '../machine/state.ts'
import type { Service } from '../service/service.ts'
import type { Inbox } from '../store/inbox.ts'
import type { AttemptPaths } from '../store/paths.ts'
import type { PostOutcome } from '../types.ts'

/** What is to be fetched, and into which folder. */
export interface PullRequest {
  readonly image: ImageReference
  readonly digest?: string
  readonly digests: Readonly<Record<string, string>>
  /** Who else must say that the image has the digest that was found; the token is for that host alone. */
  readonly registryApi?: { readonly host: string; readonly token: string }
  readonly platform: Platform
  /** Absolute paths in the image. */
  readonly files: readonly string[]
  readonly into: string
  readonly signal: AbortSignal
  onProgress(done: { readonly bytes: number; readonly total: number }): void
}

export interface Pulled {
  readonly indexDigest: string
  readonly manifestDigest: string
  readonly files: Readonly<
    Record<string, { readonly path: string; readonly sha256: string; readonly size: number }>
  >
}

/** The world outside that a step needs; tests give their own. */
export interface Ports {
  readonly clock: Clock
  readonly log: Logger
  pull(request: PullRequest): Promise<Pulled>
  post(result: Result): Promise<PostOutcome>
  /** Called before every step in which the agent may run: whoever holds it back at boot lets it go. */
  agentMayRun?(): Promise<void>
  /** How a component is kept running. */
  service(component: Component): Service
  /** A named point of the code where tests end this process. */
  at(point: string): Promise<void>
}

/** All that a step gets. */
export interface StepContext extends Omit<Ports, 'service'> {
  readonly config: EdgeConfig
  readonly component: Component
  readonly prepare: Prepare
  readonly local: boolean
  readonly isLost?: true
  readonly paths: AttemptPaths
  readonly inbox: Inbox
  readonly service: Service
  readonly locks: NodeLock
  readonly state: AttemptState
  /** Aborts at the stage's deadline and, before the stop, when the attempt is cancelled. */
  readonly signal: AbortSignal
}

/** The node's lock, as one updater holds it. */
export interface NodeLock {
  take(): Promise<Lock>
  drop(): Promise<void>
}

/** A step: makes something true and says what later steps need. It may be run again after any crash. */
export type StepRun = (context: StepContext) => Promise<Facts | undefined>
