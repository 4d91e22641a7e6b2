import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plane } from './plane.ts'

/** One request as the API server saw it. */
export interface AuditEntry {
  readonly verb: string
  readonly requestURI: string
  readonly user: { readonly username: string }
  readonly userAgent?: string
  readonly responseStatus?: { readonly code: number; readonly message?: string }
}

/** Every request to a real plane that was started with `audit`, oldest first. */
export function auditOf(plane: Plane): AuditEntry[] {
  const lines = readFileSync(join(plane.folder, 'audit.log'), 'utf8').split('\n')
  return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as AuditEntry)
}
