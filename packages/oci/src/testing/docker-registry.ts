import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ImageStore } from './image-store.ts'
import type { ServerTls } from './test-registry.ts'

/** The program of the Debian package `docker-registry`. */
const PROGRAM = '/usr/bin/docker-registry'
/** Ends it with us, however we end. */
const SETPRIV = ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] as const
const REPOSITORY = 'team/edge'

/** Why the real registry cannot be used on this machine; undefined when it can. */
export function dockerRegistryProblem(): string | undefined {
  const missing = [PROGRAM, SETPRIV[0]].find((path) => !isProgram(path))
  return missing === undefined ? undefined : `there is no ${missing} here: apt-get install docker-registry`
}

/** A CNCF distribution registry in a process of its own, over HTTPS. */
export interface DockerRegistry {
  /** `127.0.0.1:{port}` */
  readonly host: string
  stop(): Promise<void>
}

export interface DockerRegistryOptions {
  readonly store: ImageStore
  readonly tls: ServerTls
  /** Files beside its configuration, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** The part `auth` of its configuration, given the folder of the files. */
  readonly auth: (folder: string) => object
}

/** Starts it over a store, as the repository `team/edge`. @see https://distribution.github.io/distribution/about/configuration/ */
export async function startDockerRegistry(options: DockerRegistryOptions): Promise<DockerRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'upgrade-hub-registry-'))
  await writeStorage(options.store, join(folder, 'docker/registry/v2'))
  const [certificate, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  const settings = {
    version: 0.1,
    log: { accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: folder } },
    http: { addr: '127.0.0.1:0', secret: 'test', tls: { certificate, key } },
    auth: options.auth(folder),
  }
  const files = { 'tls.crt': options.tls.cert, 'tls.key': options.tls.key, ...options.files }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 })
  // JSON is YAML too.
  await writeFile(join(folder, 'config.yml'), JSON.stringify(settings))
  const [program, ...args] = [...SETPRIV, PROGRAM, 'serve', join(folder, 'config.yml')] as const
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: {} })
  const ended = once(child, 'close')
  const stop = async () => {
    child.kill()
    await ended
    await rm(folder, { recursive: true })
  }
  const said: string[] = []
  for await (const line of createInterface(child.stderr)) {
    said.push(line)
    const port = /listening on 127\.0\.0\.1:(?<port>\d+)/.exec(line)?.groups?.['port']
    if (port !== undefined) return { host: `127.0.0.1:${port}`, stop }
  }
  await stop()
  throw new Error(`docker-registry did not start:\n${said.join('\n')}`)
}

/** Its storage as a push would leave it. @see the package `registry/storage` of distribution, paths.go */
async function writeStorage({ blobs, tags }: ImageStore, root: string): Promise<void> {
  const repository = join(root, 'repositories', REPOSITORY)
  const put = async (path: string, data: string | Buffer) => {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, data)
  }
  for (const [digest, { data, type }] of blobs) {
    const hex = digest.replace('sha256:', '')
    const links = /manifest|index/.test(type) ? '_manifests/revisions' : '_layers'
    await put(join(root, 'blobs/sha256', hex.slice(0, 2), hex, 'data'), data)
    await put(join(repository, links, 'sha256', hex, 'link'), digest)
  }
  for (const [tag, digest] of tags)
    await put(join(repository, '_manifests/tags', tag, 'current/link'), digest)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
