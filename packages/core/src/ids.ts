import { createHash } from 'node:crypto'

/** Lower-case RFC 4648 base32: the letters that are allowed at both ends of a Kubernetes name. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const NAME_PREFIX_MAX = 180
const NAME_HASH_LENGTH = 20

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/**
 * The name of the task of one job, node and purpose: the same inputs give the same name for ever, so a create that is
 * repeated after a crash meets AlreadyExists instead of making a second task. At most 201 characters.
 */
export function taskName(job: { name: string; uid: string }, nodeName: string, purpose: string): string {
  const prefix = job.name.slice(0, NAME_PREFIX_MAX).replace(/[.-]+$/, '')
  const digest = createHash('sha256').update(`${job.uid}/${nodeName}/${purpose}`).digest()
  return `${prefix}-${base32(digest).slice(0, NAME_HASH_LENGTH)}`
}

/** KubeEdge's HistoryID, and the name of an attempt on the node: `{task}.{attempt}`. */
export function historyId(task: string, attempt: number): string {
  return `${task}.${attempt}`
}

/** The other way round; undefined when the text was not made by `historyId`. A task's name may contain dots. */
export function parseHistoryId(text: string): { task: string; attempt: number } | undefined {
  const match = /^(?<task>[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?)\.(?<attempt>[1-9]\d{0,8})$/.exec(text)
  if (!match?.groups) return undefined
  return { task: match.groups['task'] ?? '', attempt: Number(match.groups['attempt']) }
}

/** The stable name of one effect: `{taskUID}/{attempt}/{step}`. */
export function attemptId(taskUID: string, attempt: number, step: string): string {
  return `${taskUID}/${attempt}/${step}`
}

function base32(bytes: Uint8Array): string {
  let out = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      out += BASE32[(value >>> (bits - 5)) & 31]
      bits -= 5
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? out + BASE32[(value << (5 - bits)) & 31] : out
}
