import { describe, inject } from 'vitest'
import type { Plane, PlaneName } from './plane.ts'
import { mintUsers } from './users.ts'

/**
 * One suite on every control plane of the run: `npm test` runs integration tests once on the embedded API and once on
 * the real one. Objects are shared by all files of a run, so each test makes its own names. Where a plane cannot run,
 * its tests are skipped and counted as such, and the reason stands in the title.
 */
export function describePlanes(name: string, suite: (plane: Plane) => void): void {
  for (const [planeName, plane] of Object.entries(inject('planes'))) {
    if ('absent' in plane)
      describe.skip(`${name} (${planeName}: ${plane.reason})`, () => {
        suite(placeholder(planeName))
      })
    else
      describe(`${name} (${planeName})`, () => {
        suite(plane)
      })
  }
}

/** A suite that compares the two planes; it needs both. */
export function describeBoth(name: string, suite: (embedded: Plane, real: Plane) => void): void {
  const { embedded, real } = inject('planes')
  const missing = [embedded, real].find((plane) => plane === undefined || 'absent' in plane)
  if (embedded && real && !('absent' in embedded) && !('absent' in real)) {
    describe(name, () => {
      suite(embedded, real)
    })
  } else {
    const reason = missing && 'absent' in missing ? missing.reason : 'this run has not both planes'
    describe.skip(`${name} (${reason})`, () => {
      suite(placeholder('embedded'), placeholder('real'))
    })
  }
}

/** What a skipped suite is collected with, so that its tests can be counted. No test sees it. */
export function placeholder(name: string): Plane {
  return {
    name: name as PlaneName,
    url: '',
    caPem: '',
    kubeconfigPath: '',
    kubectls: [],
    folder: '',
    users: mintUsers(),
  }
}

let count = 0

/** A DNS-1123 name that no other test of the run uses. */
export function uniqueName(prefix: string): string {
  count += 1
  return `${prefix}-${process.pid}-${Math.random().toString(36).slice(2, 8)}-${count}`
}
