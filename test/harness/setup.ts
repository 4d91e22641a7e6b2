import type { TestProject } from 'vitest/node'
import { type Absent, type Binaries, findBinaries } from '../controlplane/binaries.ts'
import { startEmbeddedPlane } from './embedded-plane.ts'
import { install } from './install.ts'
import type { OwnedPlane, Plane, PlaneName } from './plane.ts'
import { startRealPlane } from './real-plane.ts'

/** The planes of this run; a plane that this machine cannot start is there with the reason. */
export type Planes = Partial<Readonly<Record<PlaneName, Plane | Absent>>>

declare module 'vitest' {
  interface ProvidedContext {
    planes: Planes
  }
}

const PLANES_OF: Readonly<Record<string, readonly PlaneName[]>> = {
  'integration-embedded': ['embedded'],
  'integration-real': ['real'],
  conformance: ['embedded', 'real'],
  system: ['real'],
  lab: ['real'],
}

/** Starts the project's planes once, with our kinds and the hub's rights installed, for all of its test files. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const owned: OwnedPlane[] = []
  const stopAll = async () => void (await Promise.all(owned.map((plane) => plane.stop())))
  try {
    const planes: Record<string, Plane | Absent> = {}
    for (const name of PLANES_OF[project.name] ?? []) planes[name] = await startOne(name, owned)
    project.provide('planes', planes)
  } catch (error) {
    await stopAll()
    throw error
  }
  return stopAll
}

async function startOne(name: PlaneName, owned: OwnedPlane[]): Promise<Plane | Absent> {
  const binaries: Binaries | Absent | undefined = name === 'real' ? findBinaries(process.env) : undefined
  if (binaries && 'absent' in binaries) return binaries
  const plane = binaries ? await startRealPlane({ binaries, audit: true }) : await startEmbeddedPlane()
  owned.push(plane)
  await install(plane)
  const { stop: _, ...data } = plane
  return data
}
