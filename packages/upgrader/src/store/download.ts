import { rename, writeFile } from 'node:fs/promises'
import { Type } from '@upgrade-hub/core/schema'
import { readJson } from '../host/read.ts'
import { checker } from './checker.ts'

const check = checker(
  Type.Object({ bytes: Type.Integer({ minimum: 0 }), total: Type.Integer({ minimum: 0 }) }),
)

/** Notes how far a download is. Not durable: it is worth nothing after a crash. */
export async function noteDownload(path: string, bytes: number, total: number): Promise<void> {
  await writeFile(`${path}.tmp`, JSON.stringify({ bytes, total }), { mode: 0o600 })
  await rename(`${path}.tmp`, path)
}

/** How far it is; undefined when there is none. */
export async function readDownload(path: string): Promise<{ percent: number; bytes: number } | undefined> {
  const found = await readJson(path, check).catch(() => undefined)
  if (!found) return undefined
  const { bytes, total } = found
  return { bytes, percent: total === 0 ? 0 : Math.min(100, Math.floor((bytes / total) * 100)) }
}
