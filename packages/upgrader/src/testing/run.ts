import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import type { Result } from '@upgrade-hub/protocol'
import { createService } from '../service/service.ts'
import type { Ports } from '../steps/context.ts'
import type { PostOutcome } from '../types.ts'

/** Ports without a network: every file of the image is the same program, and posted results are kept. */
export function testPorts(
  program: string,
  change: Partial<Ports> = {},
): { readonly ports: Ports; readonly posted: readonly Result[] } {
  const posted: Result[] = []
  const ports: Ports = {
    clock: systemClock,
    log: silentLogger,
    at: () => Promise.resolve(),
    service: (component) => createService(component, systemClock),
    post: (result): Promise<PostOutcome> => {
      posted.push(result)
      return Promise.resolve({ kind: 'stored' })
    },
    pull: async ({ files, into }) => {
      const sha256 = createHash('sha256').update(program).digest('hex')
      const digest = `sha256:${'0'.repeat(64)}`
      const pulled: Record<string, { path: string; sha256: string; size: number }> = {}
      for (const file of files) {
        const path = join(into, basename(file))
        await writeFile(path, program)
        pulled[file] = { path, sha256, size: program.length }
      }
      return { indexDigest: digest, manifestDigest: digest, files: pulled }
    },
    ...change,
  }
  return { ports, posted }
}
