import { rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, rfc3339 } from '@upgrade-hub/core'
import type { Component, EdgeConfig } from '../config.ts'
import { makeFolder, syncFolder } from '../host/durable.ts'
import { copyDurable, fileFacts, isRegularFile } from '../host/files.ts'
import type { BackupFile } from '../machine/state.ts'
import { backupsFolder } from '../store/paths.ts'
import { copyAttributes } from './attributes.ts'
import { type Backup, isWhole, linkVersion, nextSeq, readBackup, writeManifest } from './backup-catalog.ts'
import { copyDatabase } from './database.ts'
import { resolveTarget } from './targets.ts'

export interface BackupRequest {
  readonly config: EdgeConfig
  readonly component: Component
  /** The folder's name below `{etc}/backup`. */
  readonly name: string
  readonly version: string
  readonly clock: Clock
}

/**
 * Copies programs, configuration and database with a hash each, and reads every copy back. A whole backup of the same
 * name is used again while it is still what is installed.
 */
export async function backUp(request: BackupRequest): Promise<Backup> {
  const { config, component, name, version, clock } = request
  const folder = join(backupsFolder(config), name)
  const before = await readBackup(folder)
  if (before && (await isCurrent(before.files))) return before
  const partial = `${folder}.partial`
  await rm(partial, { recursive: true, force: true })
  await makeFolder(partial)
  const files = await copyAll(component, partial)
  const placed = files.map((file) =>
    file.copy === undefined ? file : { ...file, copy: join(folder, basename(file.copy)) },
  )
  const seq = await nextSeq(config)
  const manifest = { component: component.name, version, seq, at: rfc3339(clock.now()), files: placed }
  await writeManifest(partial, manifest)
  await rm(folder, { recursive: true, force: true })
  await rename(partial, folder)
  await syncFolder(backupsFolder(config))
  if (!(await isWhole(placed))) throw new Error('the copies differ from what was read')
  if (version !== '') await linkVersion(config, version, name)
  return { ...manifest, folder }
}

async function copyAll(component: Component, folder: string): Promise<readonly BackupFile[]> {
  const { binary, companions, state } = component
  const programs = [binary, ...companions].map((target) => ({ kind: 'program' as const, target }))
  const config = state.config === undefined ? [] : [{ kind: 'config' as const, target: state.config }]
  const copied: BackupFile[] = []
  for (const [at, { kind, target }] of [...programs, ...config].entries()) {
    copied.push(await copyOne(kind, await resolveTarget(target), join(folder, `${at}-${basename(target)}`)))
  }
  const db = state.db === undefined ? undefined : await resolveTarget(state.db)
  if (db !== undefined && (await isRegularFile(db))) copied.push(await copyDb(db, join(folder, basename(db))))
  return copied
}

async function copyOne(kind: 'program' | 'config', target: string, copy: string): Promise<BackupFile> {
  if (!(await isRegularFile(target))) return { kind, target, sha256: '', size: 0, mode: 0, uid: 0, gid: 0 }
  const facts = await copyDurable(target, copy, 0o600)
  await copyAttributes(target, copy)
  return { kind, target, copy, ...facts }
}

async function copyDb(target: string, copy: string): Promise<BackupFile> {
  await copyDatabase(target, copy)
  const [source, copied] = await Promise.all([fileFacts(target), fileFacts(copy)])
  if (!source || !copied) throw new Error(`${target} went away`)
  const { mode, uid, gid } = source
  return { kind: 'db', target, copy, sha256: copied.sha256, size: copied.size, mode, uid, gid }
}

/** The copies are whole and the programs still are what was copied; the database is newer by nature. */
async function isCurrent(files: readonly BackupFile[]): Promise<boolean> {
  if (files.some(({ kind }) => kind === 'db') || !(await isWhole(files))) return false
  const facts = await Promise.all(files.map(({ target }) => fileFacts(target)))
  return files.every(({ sha256 }, at) => (facts[at]?.sha256 ?? '') === sha256)
}
