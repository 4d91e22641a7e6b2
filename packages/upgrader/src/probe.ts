import { canonicalVersion, isVersion } from '@upgrade-hub/core'
import type { Component } from './config.ts'
import { CommandError } from './errors.ts'
import { run } from './host/command.ts'

const PROBE_TIMEOUT_MS = 10_000

/** The version that the component's program says it has; empty when it does not answer with one within 10 s. */
export async function probeVersion(component: Component, signal?: AbortSignal): Promise<string> {
  return probeFile(component, component.binary, signal)
}

/** The same of any file, so that a new program can be asked before it is put in place. */
export async function probeFile(component: Component, path: string, signal?: AbortSignal): Promise<string> {
  const [program, ...first] = commandOf(component, path)
  try {
    const args = [...first, ...component.versionArgs]
    return versionIn(await run(program, args, { timeoutMs: PROBE_TIMEOUT_MS, ...(signal ? { signal } : {}) }))
  } catch (error) {
    if (error instanceof CommandError) return ''
    throw error
  }
}

/** How a file of the component is run: the file itself, or its runner with the file as first argument. */
export function commandOf({ runner }: Component, path: string): readonly [string, ...string[]] {
  return runner === undefined ? [path] : [runner, path]
}

/** The first word of a text that is a version, as in `KubeEdge v1.21.2`, with a `v`; empty when there is none. */
function versionIn(text: string): string {
  const found = text.split(/\s+/).find((word) => isVersion(word))
  return found === undefined ? '' : canonicalVersion(found)
}
