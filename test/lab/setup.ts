import { messageOf } from '@upgrade-hub/core'
import type { TestProject } from 'vitest/node'
import startPlanes from '../harness/setup.ts'
import { debianRoot } from './root.ts'
import { labProblem } from './tools.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Why there is no lab on this machine; empty when there is one. */
    labProblem: string
  }
}

/** A control plane for the lab, and a Debian for its hosts; where one of them is not to be had, the reason. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const problem = (await labProblem()) ?? (await rootProblem())
  project.provide('labProblem', problem ?? '')
  if (problem === undefined) return startPlanes(project)
  project.provide('planes', {})
  return undefined
}

async function rootProblem(): Promise<string | undefined> {
  try {
    await debianRoot(console.log)
    return undefined
  } catch (error) {
    return `the lab has no Debian for its hosts: ${messageOf(error)}`
  }
}
