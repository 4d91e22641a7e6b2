import { messageOf } from '@upgrade-hub/core'
import { KubeError } from '@upgrade-hub/kube'
import type { Cluster } from '../cluster/cluster.ts'

/** What one check has come to. */
export interface Finding {
  readonly about: string
  readonly state: 'ok' | 'warning' | 'problem' | 'unknown'
  readonly message: string
  /** What to do about it; empty where nothing is to be done. */
  readonly fix: string
}

export interface Check {
  readonly about: string
  readonly run: (cluster: Cluster) => Promise<Finding[]>
}

export const ok = (about: string, message: string): Finding => ({ about, state: 'ok', message, fix: '' })
export const warning = (about: string, message: string, fix: string): Finding => ({
  about,
  state: 'warning',
  message,
  fix,
})
export const problem = (about: string, message: string, fix: string): Finding => ({
  about,
  state: 'problem',
  message,
  fix,
})

/** A check that could not be made is no finding of a fault, and no reason to leave out the others. */
export async function findingsOf({ about, run }: Check, cluster: Cluster): Promise<Finding[]> {
  try {
    return await run(cluster)
  } catch (error) {
    const isForbidden = error instanceof KubeError && error.isForbidden
    const fix = isForbidden ? 'ask somebody who may, or get the right' : ''
    return [{ about, state: 'unknown', message: messageOf(error), fix }]
  }
}

/** Undefined where there is none. */
export async function ifThere<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound) return undefined
    throw error
  }
}
