import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCa, followTlsFiles, readTlsFiles, type TlsFiles, type TlsMaterial } from './index.ts'

let dir: string
let files: TlsFiles
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pki-'))
  files = { ca: join(dir, 'ca.pem'), cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  await issue()
})
afterEach(() => rm(dir, { recursive: true }))

async function issue(): Promise<TlsMaterial> {
  const ca = await createCa({ commonName: 'a', validDays: 1 })
  const { certPem, keyPem } = await ca.issueServer({ dnsNames: ['a'], ipAddresses: [], validDays: 1 })
  const material = { ca: ca.certPem, cert: certPem, key: keyPem }
  for (const part of ['ca', 'cert', 'key'] as const) {
    await writeFile(`${files[part]}.new`, material[part])
    await rename(`${files[part]}.new`, files[part])
  }
  return material
}

describe('TLS files', () => {
  it('are refused when one is missing, garbage, or the key is of another certificate', async () => {
    const { key } = await readTlsFiles(files)
    await issue()
    await writeFile(files.key, key)
    await expect(readTlsFiles(files)).rejects.toMatchObject({ code: 'PKI_TLS_FILES', retry: 'backoff' })
    await writeFile(files.key, 'nonsense')
    await expect(readTlsFiles(files)).rejects.toMatchObject({ code: 'PKI_TLS_FILES' })
    await rm(files.key)
    await expect(readTlsFiles(files)).rejects.toMatchObject({ code: 'PKI_TLS_FILES' })
  })

  it('are applied again after a change, and only then; a half-done rotation keeps the old ones', async () => {
    const clock = new FakeClock()
    const stop = new AbortController()
    const applied: TlsMaterial[] = []
    const log = { ...silentLogger, warn: vi.fn<() => void>() }
    const apply = (material: TlsMaterial) => applied.push(material)
    const running = followTlsFiles({ files, apply, everyMs: 1000, clock, log, signal: stop.signal })
    const look = async () => {
      await vi.waitUntil(() => clock.pending === 1)
      await clock.advance(1000)
    }
    await look()
    await look()
    expect(applied).toHaveLength(0)
    await writeFile(files.key, 'half')
    await look()
    await vi.waitUntil(() => log.warn.mock.calls.length === 1)
    const next = await issue()
    await look()
    await vi.waitUntil(() => applied.length === 1)
    expect(applied[0]).toEqual(next)
    stop.abort()
    await running
  })
})
