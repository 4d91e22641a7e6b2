import { readFile } from 'node:fs/promises'

/** Identity of this boot of the kernel: monotonic times of two boots cannot be compared. */
export async function bootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
}

/** Identity of this installation; empty where the host has none. @see machine-id(5) */
export async function machineId(): Promise<string> {
  return (await readFile('/etc/machine-id', 'utf8').catch(() => '')).trim()
}

/** Milliseconds of CLOCK_MONOTONIC, which all processes of one boot share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}
