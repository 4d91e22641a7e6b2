import { describe, expect, inject, it } from 'vitest'
import { type Plane, uniqueName } from '../harness/index.ts'
import { differences } from './diff.ts'
import { forgiven } from './differences.ts'
import { Normaliser } from './normalise.ts'
import { type Recorded, Recorder, type Script } from './recorder.ts'

async function record(plane: Plane, script: Script, name: string): Promise<readonly Recorded[]> {
  const recorder = new Recorder(plane)
  await script(recorder, name)
  const normaliser = new Normaliser()
  return recorder.answers.map((answer) => forgiven(normaliser.answer(answer)))
}

/** A test that sends a script to both planes and wants the same answers, one by one. */
export function itAgrees(title: string, planes: { embedded: Plane; real: Plane }, script: Script): void {
  it(title, async () => {
    const name = uniqueName('c')
    const real = await record(planes.real, script, name)
    const embedded = await record(planes.embedded, script, name)
    expect(embedded.map(({ label }) => label)).toEqual(real.map(({ label }) => label))
    for (const [i, answer] of real.entries()) {
      expect.soft(differences(answer, embedded[i]), answer.label).toEqual([])
    }
  })
}

/** A suite that only asks the real API server, against which our own engine is held. */
export function describeReal(title: string, suite: (real: Plane) => void): void {
  const { real } = inject('planes')
  if (real === undefined || 'absent' in real) {
    describe.skip(`${title} (${real?.reason ?? 'this run has no real control plane'})`, () => {
      suite({
        name: 'real',
        url: '',
        caPem: '',
        kubeconfigPath: '',
        kubectls: [],
        folder: '',
        users: {} as Plane['users'],
      })
    })
    return
  }
  describe(title, () => {
    suite(real)
  })
}
