import { chmod, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFile, syncFolder } from '../host/durable.ts'

/** A consistent copy of a SQLite database that is in use, by SQLite's own backup API, fsynced. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  // Imported here: most nodes never need it, and it is slow to load.
  const { backup, DatabaseSync } = await import('node:sqlite')
  const source = new DatabaseSync(from, { readOnly: true })
  try {
    await backup(source, to)
  } finally {
    source.close()
  }
  await chmod(to, 0o600)
  await syncFile(to)
  await syncFolder(dirname(to))
}

/** The journal files that belong to a database and must not meet an older one. */
export async function dropDatabaseJournals(path: string): Promise<void> {
  for (const suffix of ['-wal', '-shm', '-journal']) await rm(`${path}${suffix}`, { force: true })
}
