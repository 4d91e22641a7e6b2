import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createNode, type NodeFixture } from '../testing/index.ts'
import { tidyAfterBoot } from './tidy-after-boot.ts'

const RANDOM = '0c7314f8-da76-4b1f-b4b5-3b7da1da26ab'
let node: NodeFixture
beforeEach(async () => {
  node = await createNode()
})
afterEach(() => node.remove())

async function put(path: string, text = ''): Promise<void> {
  const at = join(node.root, path)
  await mkdir(dirname(at), { recursive: true })
  await writeFile(at, text)
}

const names = async (folder: string) => (await readdir(join(node.root, folder))).toSorted()

it('removes what is half-made and a lock of an earlier boot, and nothing else', async () => {
  await put(
    'etc/idempotency_record',
    JSON.stringify({ attempt: 'a.1', pid: 1, startTime: '1', boot: 'earlier' }),
  )
  await put(`etc/idempotency_record.${RANDOM}.tmp`)
  await put(`etc/idempotency_record.${RANDOM}.dead`)
  await put('etc/mine.tmp')
  await put('etc/backup/uid-1.1.partial/0-edgecore')
  await put('etc/backup/uid-1.1/backup.json')
  await put(`state/spool/1-a.1.json.${RANDOM}.tmp`)
  await put('state/spool/1-a.1.json')
  await put(`state/attempts/a.1/gate.json.${RANDOM}.tmp`)
  await put('state/attempts/a.1/journal.jsonl')
  await tidyAfterBoot(node.config)
  expect(await names('etc')).toEqual(['backup', 'config', 'mine.tmp'])
  expect(await names('etc/backup')).toEqual(['uid-1.1'])
  expect(await names('state/spool')).toEqual(['1-a.1.json'])
  expect(await names('state/attempts/a.1')).toEqual(['journal.jsonl'])
})

it('does so once a boot: later such a name belongs to somebody at work', async () => {
  await tidyAfterBoot(node.config)
  await put(`state/spool/1-a.1.json.${RANDOM}.tmp`)
  await tidyAfterBoot(node.config)
  expect(await names('state/spool')).toHaveLength(1)
  await writeFile(join(node.root, 'state/tidied'), 'an earlier boot')
  await tidyAfterBoot(node.config)
  expect(await names('state/spool')).toEqual([])
})

it('leaves a lock that a live process holds', async () => {
  const [boot, stat] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
    readFile(`/proc/${process.pid}/stat`, 'utf8'),
  ])
  const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  await put(
    'etc/idempotency_record',
    JSON.stringify({ attempt: 'a.1', pid: process.pid, startTime, boot: boot.trim() }),
  )
  await tidyAfterBoot(node.config)
  expect(await names('etc')).toContain('idempotency_record')
})
