import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Cause, type Crd, defaultCrd, type JsonObject, judge } from '@upgrade-hub/embedded/schema'
import { parse } from 'yaml'
import type { Answer } from '../harness/http.ts'

const read = (file: string) =>
  defaultCrd(
    parse(
      readFileSync(fileURLToPath(new URL(`../../manifests/crds/${file}`, import.meta.url)), 'utf8'),
    ) as Crd,
  )

export const JOB_CRD = read('nodeupgradejobs.operations.kubeedge.io.yaml')
export const TASK_CRD = read('nodeupgradetasks.upgradehub.io.yaml')

/** `field: message (reason)` of every cause, in an order of its own: the real API server has none. */
export function told(causes: readonly Cause[]): readonly string[] {
  return causes.map(({ field, message, reason }) => `${field}: ${message} (${reason})`).toSorted()
}

/** What an API server told: nothing when it accepted, every cause when it refused. */
export function toldBy({ status, body }: Answer): readonly string[] {
  if (status < 300) return []
  const { details, message } = body as { details?: { causes?: readonly Cause[] }; message?: string }
  return details?.causes ? told(details.causes) : [`${status}: ${message}`]
}

/** What our engine tells of the same object. */
export function toldByUs(crd: Crd, object: unknown, oldObject?: unknown): readonly string[] {
  const version = (object as { apiVersion: string }).apiVersion.split('/')[1] ?? ''
  return told(
    judge({ crd, version, object: object as JsonObject, oldObject: oldObject as JsonObject | undefined }),
  )
}
