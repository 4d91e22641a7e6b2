import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCa } from '@upgrade-hub/pki'
import { stringify } from 'yaml'
import { Program } from '../harness/program.ts'
import { CLOUD_ADDRESS } from './network.ts'

const PORT = 5000
export const REGISTRY = `${CLOUD_ADDRESS}:${PORT}`

/** Who may pull and push, and what the registry keeps of the password (bcrypt, as htpasswd(1) writes it). */
const USER = 'lab'
export const PASSWORD = 'correct-horse-battery'
const HTPASSWD = `${USER}:$2b$05$K1lW9pQ2vXc7Zt4Ybn8MaeiHfdWp6hXMvvk2CxL8gnw7JjitlvViu`

/** A docker config.json. */
export const CREDENTIALS = JSON.stringify({
  auths: { [REGISTRY]: { auth: Buffer.from(`${USER}:${PASSWORD}`).toString('base64') } },
})

/** The registry of Debian's package, in the cloud's namespace, with a certificate of a private CA and a password. */
export interface LabRegistry {
  /** PEM. */
  readonly ca: string
  /** The same in a folder, as skopeo wants it. */
  readonly trust: string
  readonly program: Program
}

export async function startRegistry(folder: string, namespace: string): Promise<LabRegistry> {
  const trust = join(folder, 'trust')
  await mkdir(trust, { recursive: true })
  const ca = await createCa({ commonName: 'lab-registry', validDays: 1 })
  const server = await ca.issueServer({ dnsNames: [], ipAddresses: [CLOUD_ADDRESS], validDays: 1 })
  const file = (name: string) => join(folder, name)
  await writeFile(join(trust, 'ca.crt'), ca.certPem)
  await writeFile(file('tls.crt'), server.certPem)
  await writeFile(file('tls.key'), server.keyPem, { mode: 0o600 })
  await writeFile(file('htpasswd'), `${HTPASSWD}\n`)
  const config = {
    version: 0.1,
    log: { level: 'warn' },
    auth: { htpasswd: { realm: 'lab', path: file('htpasswd') } },
    storage: { filesystem: { rootdirectory: file('data') } },
    http: { addr: REGISTRY, tls: { certificate: file('tls.crt'), key: file('tls.key') } },
  }
  await writeFile(file('config.yml'), stringify(config))
  const argv = [`--net=/run/netns/${namespace}`, '--', 'docker-registry', 'serve', file('config.yml')]
  return { ca: ca.certPem, trust, program: new Program('docker-registry', ['nsenter', ...argv]) }
}
