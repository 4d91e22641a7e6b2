import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Beside the source like unit tests, but with processes, servers or real time limits: too slow for `test:fast`. */
const COMPONENT = '{packages,apps}/*/src/**/*.component.test.ts'

const patience = { testTimeout: 60_000, hookTimeout: 120_000 } as const

/** Tests with control planes run one file after the other: the machine is shared with what they start. */
const oneAtATime = { ...patience, fileParallelism: false } as const

/** Component tests wait more than they work, and each has its own folders and ports. */
const twoAtATime = { ...patience, fileParallelism: true, maxWorkers: 2 } as const

/**
 * One project for each layer and control plane. `npm test` (test/run) runs them in this order and counts them apart;
 * `npm run test:fast` is the first of them.
 */
export default defineConfig({
  root,
  test: {
    pool: 'threads',
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'apps/*/src/**/*.test.ts',
            'test/{architecture,harness,manifests,run,controlplane,sim}/**/*.test.ts',
          ],
          exclude: [COMPONENT],
          // Loading every module anew for each file would take three times as long as the tests.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'component', include: [COMPONENT], ...twoAtATime },
      },
      ...(['embedded', 'real'] as const).map((plane) => ({
        extends: true as const,
        test: {
          name: `integration-${plane}`,
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/harness/setup.ts'],
          ...oneAtATime,
        },
      })),
      {
        extends: true,
        test: {
          name: 'conformance',
          include: ['test/conformance/**/*.test.ts'],
          globalSetup: ['test/harness/setup.ts'],
          ...oneAtATime,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/{system,faults}/**/*.test.ts'],
          globalSetup: ['test/harness/setup.ts'],
          ...oneAtATime,
        },
      },
      {
        extends: true,
        test: {
          name: 'lab',
          include: ['test/lab/**/*.test.ts'],
          globalSetup: ['test/lab/setup.ts'],
          ...oneAtATime,
        },
      },
    ],
  },
})
