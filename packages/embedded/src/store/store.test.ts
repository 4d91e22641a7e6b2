import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { silentLogger } from '@upgrade-hub/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configMap } from '../testing/objects.ts'
import { openDatabase } from './database.ts'
import type { Change } from './history.ts'
import { Store } from './store.ts'

let folder: string
let database: DatabaseSync
let store: Store

async function open(): Promise<Store> {
  database = await openDatabase(folder)
  return new Store(database, silentLogger)
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'store-'))
  store = await open()
})

afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Makes the next commit fail as a full disk would. */
function failNextCommit(): void {
  const run = database.exec.bind(database)
  database.exec = (sql) => {
    if (sql !== 'COMMIT') return run(sql)
    database.exec = run
    throw new Error('database or disk is full')
  }
}

describe('the store', () => {
  it('gives every write a revision of its own, and tells of it after the commit', async () => {
    const heard: Change[] = []
    store.onCommit((changes) => heard.push(...changes))
    const a = store.put('configmaps', 'default/a', configMap('a'))
    const b = store.put('configmaps', 'default/b', configMap('b'))
    expect([a.metadata.resourceVersion, b.metadata.resourceVersion]).toEqual(['1', '2'])
    expect([heard.length, store.committed, store.head]).toEqual([0, 0, 2])
    await store.settled()
    expect(heard.map(({ type, revision }) => [type, revision])).toEqual([
      ['ADDED', 1],
      ['ADDED', 2],
    ])
    expect(store.committed).toBe(2)
  })

  it('commits the writes of one turn together', async () => {
    let batches = 0
    store.onCommit(() => batches++)
    for (let i = 0; i < 100; i++) store.put('configmaps', `default/${i}`, configMap(String(i)))
    await store.settled()
    expect(batches).toBe(1)
  })

  it('tells the last object of a deletion at the revision of its end', async () => {
    const heard: Change[] = []
    store.put('configmaps', 'default/a', configMap('a', { data: { x: '1' } }))
    await store.settled()
    store.onCommit((changes) => heard.push(...changes))
    store.remove('configmaps', 'default/a')
    await store.settled()
    expect(heard).toMatchObject([
      { type: 'DELETED', object: { data: { x: '1' }, metadata: { resourceVersion: '2' } } },
    ])
    expect(store.remove('configmaps', 'default/a')).toBeUndefined()
  })

  it('undoes the writes of a commit that fails, and tells who waits for them', async () => {
    store.put('configmaps', 'default/kept', configMap('kept', { data: { x: 'old' } }))
    await store.settled()
    failNextCommit()
    store.put('configmaps', 'default/kept', configMap('kept', { data: { x: 'new' } }))
    store.put('configmaps', 'default/lost', configMap('lost'))
    await expect(store.settled()).rejects.toMatchObject({ code: 'EMBEDDED_STORAGE' })
    expect(store.get('configmaps', 'default/kept')?.['data']).toEqual({ x: 'old' })
    expect(store.get('configmaps', 'default/lost')).toBeUndefined()
    expect(store.put('configmaps', 'default/next', configMap('next')).metadata.resourceVersion).toBe('4')
    await store.settled()
  })

  it('is what it was after it was closed and opened, and goes on counting', async () => {
    store.put('configmaps', 'default/a', configMap('a', { data: { x: '1' } }))
    store.put('configmaps', 'default/b', configMap('b'))
    store.remove('configmaps', 'default/b')
    store.close()
    store = await open()
    expect([...store.all('configmaps').keys()]).toEqual(['default/a'])
    expect(store.get('configmaps', 'default/a')?.['data']).toEqual({ x: '1' })
    expect(store.put('configmaps', 'default/c', configMap('c')).metadata.resourceVersion).toBe('4')
  })

  it('shows a past revision without what is not committed yet', async () => {
    store.put('configmaps', 'default/a', configMap('a', { data: { x: '1' } }))
    await store.settled()
    const then = store.committed
    store.put('configmaps', 'default/a', configMap('a', { data: { x: '2' } }))
    store.put('configmaps', 'default/b', configMap('b'))
    const past = store.past('configmaps', then)
    expect([...(past?.keys() ?? [])]).toEqual(['default/a'])
    expect(past?.get('default/a')?.['data']).toEqual({ x: '1' })
    await store.settled()
    expect(store.past('configmaps', then)?.get('default/a')?.['data']).toEqual({ x: '1' })
  })

  it('refuses writes once it is closed', () => {
    store.close()
    expect(() => store.put('configmaps', 'default/a', configMap('a'))).toThrow('closed')
  })

  it('does not open what a newer version wrote', async () => {
    database.exec('PRAGMA user_version = 99')
    store.close()
    await expect(openDatabase(folder)).rejects.toMatchObject({ code: 'EMBEDDED_STORAGE' })
    rmSync(folder, { recursive: true, force: true })
    store = await open()
  })
})
