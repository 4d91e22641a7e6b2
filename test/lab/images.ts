import { mkdir, writeFile } from 'node:fs/promises'
import { arch } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandsOf, wordsOf } from '../harness/markdown.ts'
import { run } from '../harness/program.ts'
import { type AgentKind, edgecore, keadm } from './agent.ts'
import { CREDENTIALS, REGISTRY } from './registry.ts'

/** The page that tells people how to make such an image. */
const RECIPE = fileURLToPath(new URL('../../docs/edgecore-image.md', import.meta.url))
const ARCHITECTURE: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

export interface ImagePlan {
  readonly folder: string
  /** Of the registry's CA. */
  readonly trust: string
  /** The cloud's network namespace. */
  readonly namespace: string
  /** Where the node has the Node that runs edgecore. */
  readonly node: string
  readonly version: string
  readonly kind: AgentKind
}

/** Makes an installation image and pushes it, by the commands of the page, in order and as they stand there. */
export async function publish(plan: ImagePlan): Promise<void> {
  const { folder, trust, namespace, node, version, kind } = plan
  const at = join(folder, version)
  await mkdir(at, { recursive: true })
  await writeFile(join(at, 'edgecore'), edgecore(node, version, kind), { mode: 0o755 })
  await writeFile(join(at, 'keadm'), keadm(node, version), { mode: 0o755 })
  const authFile = join(at, 'auth.json')
  await writeFile(authFile, CREDENTIALS, { mode: 0o600 })
  for (const line of commandsOf(RECIPE)) {
    const own = line
      .replaceAll('v1.23.0', version)
      .replaceAll('registry.example.com', REGISTRY)
      .replace('--architecture amd64', `--architecture ${ARCHITECTURE[arch()]}`)
    const more = own.startsWith('skopeo copy') ? [`--dest-cert-dir=${trust}`, `--authfile=${authFile}`] : []
    const argv = ['nsenter', `--net=/run/netns/${namespace}`, '--', ...wordsOf(own), ...more] as const
    const { code, output } = await run([...argv], { cwd: at })
    if (code !== 0) throw new Error(`${own} ended with ${code}: ${output}`)
  }
}
