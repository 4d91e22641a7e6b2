import type { Clock } from '@upgrade-hub/core'
import type { Component } from '../config.ts'
import { ProcessService } from './process-service.ts'
import { SystemdService } from './systemd-service.ts'

/** What is running now. */
export interface ServiceState {
  readonly running: boolean
  /** On its way: neither up nor given up. */
  readonly starting: boolean
  /** Changes with every start, so a restart between two looks shows. */
  readonly identity: string
}

/** Keeps one agent running. `stop` and `start` may be repeated: they make true what they say. */
export interface Service {
  state(): Promise<ServiceState>
  /** Why it could not be stopped and started; undefined when it can. */
  problem(): Promise<string | undefined>
  /** No supervisor may start the agent on its own until `release`; forgotten by a reboot. */
  hold(): Promise<void>
  release(): Promise<void>
  /** TERM, wait, KILL, and proof that it is gone. @throws StepError StopFailed */
  stop(): Promise<void>
  /** @throws StepError StartFailed */
  start(): Promise<void>
}

/** The service manager that the component's configuration names. */
export function createService(component: Component, clock: Clock): Service {
  const { service } = component
  return service.manager === 'systemd'
    ? new SystemdService(component, service, clock)
    : new ProcessService(component, service, clock)
}
