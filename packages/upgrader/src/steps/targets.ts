import { realpath } from 'node:fs/promises'
import type { Component } from '../config.ts'
import { errnoOf } from '../host/durable.ts'

/** The file behind a path: links are kept, what they lead to is replaced. A path that leads nowhere is itself. */
export async function resolveTarget(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return path
    throw error
  }
}

/** The program files of a component, the agent itself first. */
export function programTargets({ binary, companions }: Component): Promise<string[]> {
  return Promise.all([binary, ...companions].map(resolveTarget))
}
