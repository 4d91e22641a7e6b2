import type { Hello, OpenAttempt, Platform, Probe } from '@upgrade-hub/protocol'
import type { AttemptView } from '@upgrade-hub/upgrader'
import { EDGE_VERSION } from '@upgrade-hub/upgrader'

/** The most attempts that a hello may name. */
const MAX_OPEN = 64
/** Node's word for an architecture → OCI's. */
const ARCHITECTURES: Readonly<Record<string, Platform>> = {
  x64: { os: 'linux', arch: 'amd64' },
  arm64: { os: 'linux', arch: 'arm64' },
  arm: { os: 'linux', arch: 'arm', variant: 'v7' },
}

/** What an edge says first: who it is, what runs on it, and what it is in the middle of. */
export function makeHello(facts: {
  bootID: string
  machineID: string
  timeZone: string
  registerNode: boolean
  probe: Probe | undefined
  attempts: readonly AttemptView[]
  undelivered: number
}): Hello {
  const { bootID, machineID, timeZone, registerNode, probe, attempts, undelivered } = facts
  const open = attempts.filter(({ phase }) => phase !== 'ended')
  return {
    protocol: 1,
    capabilities: registerNode ? ['registerNode'] : [],
    node: { bootID, machineID, timeZone },
    edgeVersion: EDGE_VERSION,
    hubVersion: '',
    platform: ARCHITECTURES[process.arch] ?? { os: 'linux', arch: process.arch },
    probe: probe ?? { version: '', bootID },
    open: open.slice(-MAX_OPEN).map(openAttempt),
    undelivered,
  }
}

function openAttempt({ task, taskUID, attempt, step }: AttemptView): OpenAttempt {
  return { task, taskUID, attempt, step }
}
