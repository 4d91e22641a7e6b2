import { lstat, readdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@upgrade-hub/core/schema'
import type { Static } from 'typebox'
import type { EdgeConfig } from '../config.ts'
import { removeDurable, syncFolder, writeDurable } from '../host/durable.ts'
import { fileFacts } from '../host/files.ts'
import { readJson } from '../host/read.ts'
import type { BackupFile } from '../machine/state.ts'
import { checker } from '../store/checker.ts'
import { backupsFolder } from '../store/paths.ts'

const KEPT_PER_COMPONENT = 3
const KEPT_MS = 30 * 24 * 60 * 60 * 1000
const MANIFEST = 'backup.json'
const Text = Type.String({ maxLength: 4096 })
const Count = Type.Integer({ minimum: 0 })

/** The last file that a backup writes: a folder without it is no backup. */
const Manifest = Type.Object({
  v: Type.Literal(1),
  component: Text,
  version: Text,
  /** Says which is newer; the wall clock may have jumped. */
  seq: Type.Optional(Count),
  at: Text,
  files: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('program'), Type.Literal('config'), Type.Literal('db')]),
      target: Text,
      copy: Type.Optional(Text),
      sha256: Text,
      size: Count,
      mode: Count,
      uid: Count,
      gid: Count,
    }),
  ),
})
const check = checker(Manifest)

/** A whole backup: what was there, when, and where its copies are. */
export interface Backup extends Omit<Static<typeof Manifest>, 'v' | 'files' | 'seq'> {
  readonly seq: number
  readonly folder: string
  readonly files: readonly BackupFile[]
}

/** Declares a folder a backup. */
export function writeManifest(folder: string, backup: Omit<Backup, 'folder'>): Promise<void> {
  return writeDurable(join(folder, MANIFEST), JSON.stringify({ v: 1, ...backup }))
}

/** The backup in a folder; undefined when there is none or its list cannot be read. */
export async function readBackup(folder: string): Promise<Backup | undefined> {
  const manifest = await readJson(join(folder, MANIFEST), check).catch(() => undefined)
  return manifest && { ...manifest, seq: manifest.seq ?? 0, folder }
}

/** True when every copy is what it was. */
export async function isWhole(files: readonly BackupFile[]): Promise<boolean> {
  const copies = files.filter(({ copy }) => copy !== undefined)
  // A copy that cannot be read is no copy.
  const facts = await Promise.all(copies.map(({ copy }) => fileFacts(copy ?? '').catch(() => undefined)))
  return copies.every(({ sha256 }, at) => facts[at]?.sha256 === sha256)
}

/** Newest first. */
export async function listBackups(config: EdgeConfig, component: string): Promise<readonly Backup[]> {
  return (await allBackups(config)).filter((backup) => backup.component === component)
}

/** The number of the next backup of this node. */
export async function nextSeq(config: EdgeConfig): Promise<number> {
  return ((await allBackups(config))[0]?.seq ?? 0) + 1
}

async function allBackups(config: EdgeConfig): Promise<readonly Backup[]> {
  const root = backupsFolder(config)
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name))
  const found = (await Promise.all(folders.map(readBackup))).filter((backup) => backup !== undefined)
  return found.toSorted((a, b) => b.seq - a.seq || b.at.localeCompare(a.at))
}

/** The newest whole backup of a version; of any version when none is named. */
export async function findBackup(
  config: EdgeConfig,
  component: string,
  version?: string,
): Promise<Backup | undefined> {
  for (const backup of await listBackups(config, component)) {
    if (version !== undefined && backup.version !== version) continue
    if (await isWhole(backup.files)) return backup
  }
  return undefined
}

/** Keeps the last three of a component and everything of the last 30 days. */
export async function pruneBackups(config: EdgeConfig, component: string, nowMs: number): Promise<void> {
  const old = (await listBackups(config, component)).slice(KEPT_PER_COMPONENT)
  for (const { folder, at } of old) {
    if (nowMs - Date.parse(at) > KEPT_MS) await removeBackup(folder)
  }
}

/** Makes room: the oldest backup of a component goes, the newest never. False when there is none to remove. */
export async function removeOldestBackup(config: EdgeConfig, component: string): Promise<boolean> {
  const oldest = (await listBackups(config, component)).slice(1).at(-1)
  if (oldest) await removeBackup(oldest.folder)
  return oldest !== undefined
}

/** The list goes first: half a backup must not look like one. */
async function removeBackup(folder: string): Promise<void> {
  await removeDurable(join(folder, MANIFEST))
  await rm(folder, { recursive: true, force: true })
}

/** Points `backup/{version}` at a backup, as KubeEdge names them; a real folder of KubeEdge's stays. */
export async function linkVersion(config: EdgeConfig, version: string, name: string): Promise<void> {
  const root = backupsFolder(config)
  const link = join(root, version)
  const there = await lstat(link).catch(() => undefined)
  if (there && !there.isSymbolicLink()) return
  await rm(`${link}.new`, { force: true })
  await symlink(name, `${link}.new`)
  await rename(`${link}.new`, link)
  await syncFolder(root)
}
