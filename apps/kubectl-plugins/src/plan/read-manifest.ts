import { createReadStream } from 'node:fs'
import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { messageOf } from '@upgrade-hub/core'
import { UsageError } from '../errors.ts'

/** The API server takes no bigger object. */
const MAX_BYTES = 3 * 1024 * 1024

/** The one NodeUpgradeJob of a file, or of standard input for `-`. @throws UsageError */
export async function readManifest(file: string, readInput: () => Promise<string>): Promise<NodeUpgradeJob> {
  const text = file === '-' ? await readInput() : await readText(file)
  const jobs = (await parseAll(text, file)).filter(isJob)
  const [job] = jobs
  if (!job || jobs.length > 1) throw new UsageError(`${file} holds ${jobs.length} NodeUpgradeJobs: give one`)
  return job
}

async function readText(file: string): Promise<string> {
  try {
    return await readCapped(createReadStream(file, 'utf8'))
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${file} cannot be read: ${messageOf(error)}`)
  }
}

/** @throws UsageError for what is longer than any manifest */
export async function readCapped(stream: AsyncIterable<string | Buffer>): Promise<string> {
  const parts: string[] = []
  let length = 0
  for await (const part of stream) {
    length += part.length
    if (length > MAX_BYTES) throw new UsageError(`a manifest has at most ${MAX_BYTES} bytes`)
    parts.push(String(part))
  }
  return parts.join('')
}

async function parseAll(text: string, file: string): Promise<unknown[]> {
  const { parseAllDocuments } = await import('yaml')
  return [...parseAllDocuments(text)].map((document) => {
    const [error] = document.errors
    if (error) throw new UsageError(`${file} is no YAML: ${messageOf(error)}`)
    return document.toJS({ maxAliasCount: 100 }) as unknown
  })
}

function isJob(value: unknown): value is NodeUpgradeJob {
  const { kind, apiVersion, spec } = (value ?? {}) as Partial<NodeUpgradeJob>
  return (
    kind === 'NodeUpgradeJob' &&
    typeof spec === 'object' &&
    String(apiVersion).startsWith('operations.kubeedge.io/')
  )
}
