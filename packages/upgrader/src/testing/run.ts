import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import type { Result } from '@upgrade-hub/protocol'
import type { Ports } from '../steps/context.ts'
import type { PostOutcome } from '../types.ts'

/** Ports without a network: the image is one program, and posted results are kept. */
export function testPorts(
  program: string,
  change: Partial<Ports> = {},
): { readonly ports: Ports; readonly posted: readonly Result[] } {
  const posted: Result[] = []
  const ports: Ports = {
    clock: systemClock,
    log: silentLogger,
    at: () => Promise.resolve(),
    post: (result): Promise<PostOutcome> => {
      posted.push(result)
      return Promise.resolve({ kind: 'stored' })
    },
    pull: async ({ files, into }) => {
      const [path = ''] = files
      const staged = join(into, basename(path))
      await writeFile(staged, program)
      const sha256 = createHash('sha256').update(program).digest('hex')
      const digest = `sha256:${'0'.repeat(64)}`
      return {
        indexDigest: digest,
        manifestDigest: digest,
        files: { [path]: { path: staged, sha256, size: program.length } },
      }
    },
    ...change,
  }
  return { ports, posted }
}
