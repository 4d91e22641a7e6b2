import { run } from '../harness/program.ts'

/** What the lab needs beside root and namespaces, by the Debian package that brings it. */
const PACKAGES: Readonly<Record<string, string>> = {
  debootstrap: 'debootstrap',
  'systemd-nspawn': 'systemd-container',
  ip: 'iproute2',
  nft: 'nftables',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  'mkfs.ext4': 'e2fsprogs',
  'docker-registry': 'docker-registry',
  skopeo: 'skopeo',
  umoci: 'umoci',
}
const TIMEOUT_MS = 60_000

/** Runs a program of this machine to its end. @throws Error with what it said */
export async function must(...argv: [string, ...string[]]): Promise<string> {
  const { code, output, stdout } = await run(argv, { timeoutMs: TIMEOUT_MS })
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}: ${output.slice(-2000)}`)
  return stdout
}

/** Why this machine cannot be a lab, as a sentence for the closing table; undefined when it can. */
export async function labProblem(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'the lab needs Linux'
  if (process.getuid?.() !== 0) return 'the lab needs root: namespaces, loop devices and systemd-nspawn'
  const lacking = await Promise.all(
    Object.entries(PACKAGES).map(async ([program, name]) => ((await isThere(program)) ? [] : [name])),
  )
  const names = [...new Set(lacking.flat())]
  if (names.length > 0) return `the lab needs Debian's ${names.join(', ')}`
  const namespaces = await run(['unshare', '--net', '--mount', '--pid', '--fork', 'true'])
  if (namespaces.code !== 0) return `the lab needs namespaces: ${namespaces.output.trim()}`
  const loop = await run(['losetup', '--find'])
  if (loop.code !== 0) return `the lab needs loop devices: ${loop.output.trim()}`
  return undefined
}

async function isThere(program: string): Promise<boolean> {
  return (await run(['which', program])).code === 0
}
