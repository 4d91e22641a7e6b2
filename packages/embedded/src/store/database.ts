import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type * as Sqlite from 'node:sqlite'
import type { DatabaseSync } from 'node:sqlite'
import { messageOf } from '@upgrade-hub/core'
import { StorageError } from '../errors.ts'

const SCHEMA_VERSION = 1
const DIRECTORY_MODE = 0o700
/** It holds Secrets. */
const FILE_MODE = 0o600

const TABLES = `
  CREATE TABLE IF NOT EXISTS objects (
    resource TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (resource, key)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
`

/**
 * Opens (or makes) the one SQLite file of a data folder. Every commit is on the disk when it returns: WAL with
 * `synchronous=FULL`. The file is locked for this process, because the whole state is mirrored in memory.
 * Throws StorageError when the folder cannot be written, is of a newer version, or is held by another process.
 */
export async function openDatabase(dataDir: string): Promise<DatabaseSync> {
  const { DatabaseSync: Database } = await importSqlite()
  try {
    mkdirSync(dataDir, { recursive: true, mode: DIRECTORY_MODE })
    const file = join(dataDir, 'state.db')
    const database = new Database(file)
    chmodSync(file, FILE_MODE)
    prepare(database)
    return database
  } catch (error) {
    if (error instanceof StorageError) throw error
    throw new StorageError(`cannot open the state in ${dataDir}: ${messageOf(error)}`, error)
  }
}

function prepare(database: DatabaseSync): void {
  database.exec('PRAGMA busy_timeout = 2000; PRAGMA locking_mode = EXCLUSIVE')
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const found = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (found > SCHEMA_VERSION) {
    database.close()
    throw new StorageError(`the state is of version ${found}, this program knows ${SCHEMA_VERSION}`)
  }
  database.exec(`BEGIN IMMEDIATE; ${TABLES} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
}

/** Some releases of Node 24 call the module experimental on first import: that one line is not for operators. */
async function importSqlite(): Promise<typeof Sqlite> {
  const emit = process.emitWarning.bind(process)
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!messageOf(warning).includes('SQLite is an experimental')) emit(warning, ...rest)
  }) as typeof process.emitWarning
  try {
    return await import('node:sqlite')
  } finally {
    process.emitWarning = emit
  }
}
