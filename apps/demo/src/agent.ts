import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ImageFile } from './image-layout.ts'

const SOURCE = readFileSync(fileURLToPath(new URL('../agent/edgecore.mjs', import.meta.url)), 'utf8')

/** The program `edgecore` of one version: a script that this Node runs. */
export function agentProgram(version: string): string {
  return `#!${process.execPath}\nconst VERSION = ${JSON.stringify(version)}\n${SOURCE}`
}

/** What an installation image of KubeEdge holds: the agent and keadm. */
export function installationFiles(version: string): ImageFile[] {
  const keadm = `#!${process.execPath}\nconsole.log(${JSON.stringify(version)})\n`
  return [
    { path: '/usr/local/bin/edgecore', content: agentProgram(version) },
    { path: '/usr/local/bin/keadm', content: keadm },
  ]
}
