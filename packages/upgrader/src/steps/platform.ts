import { machine } from 'node:os'
import type { Platform } from '@upgrade-hub/protocol'

/** This host as OCI names it. */
export function hostPlatform(): Platform {
  const arch =
    { x64: 'amd64', arm64: 'arm64', arm: 'arm', ia32: '386' }[process.arch as string] ?? process.arch
  const variant = arch === 'arm' ? { variant: armVariant(machine()) } : {}
  return { os: process.platform, arch, ...variant }
}

/** `armv6l` is what runs no v7 program; a 32-bit Node on a 64-bit kernel does. */
function armVariant(name: string): string {
  return /^arm(v[56])/.exec(name)?.[1] ?? 'v7'
}
