import { describe, inject } from 'vitest'
import { describePlanes, placeholder } from '../harness/describe-planes.ts'
import type { Plane } from '../harness/index.ts'

/** A suite on the lab's control plane; where this machine cannot be a lab its tests are skipped with the reason. */
export function describeLab(name: string, suite: (plane: Plane) => void): void {
  const problem = inject('labProblem')
  if (problem === '') return describePlanes(name, suite)
  describe.skip(`${name} (${problem})`, () => {
    suite(placeholder('real'))
  })
}
