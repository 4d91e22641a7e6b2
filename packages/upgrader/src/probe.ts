import { isVersion } from '@upgrade-hub/core'
import type { Component } from './config.ts'
import { CommandError } from './errors.ts'
import { run } from './host/command.ts'

const PROBE_TIMEOUT_MS = 10_000

/** The version that the component's program says it has; empty when it does not answer with one within 10 s. */
export async function probeVersion(component: Component, signal?: AbortSignal): Promise<string> {
  return probeProgram(component.binary, component.versionArgs, signal)
}

/** The same of any file, so that a new program can be asked before it is put in place. */
export async function probeProgram(
  path: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  try {
    return versionIn(await run(path, args, { timeoutMs: PROBE_TIMEOUT_MS, ...(signal ? { signal } : {}) }))
  } catch (error) {
    if (error instanceof CommandError) return ''
    throw error
  }
}

/** The first word of a text that is a version, as in `KubeEdge v1.21.2`; empty when there is none. */
function versionIn(text: string): string {
  return text.split(/\s+/).find((word) => isVersion(word)) ?? ''
}
