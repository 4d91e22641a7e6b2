import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const SOURCE = readFileSync(fileURLToPath(new URL('agent/edgecore.cjs', import.meta.url)), 'utf8')

/** How an edgecore behaves once it is installed. */
export type AgentKind =
  | 'good'
  | 'crashes at once'
  | 'dies after 5 s'
  | 'says another version'
  | 'needs a new config'
  | 'ignores TERM'
  | 'stops slowly'
  | 'hangs'

/** edgecore of one version: a program for the Node that our package brings. */
export function edgecore(node: string, version: string, kind: AgentKind = 'good'): string {
  return `#!${node}\nconst VERSION = ${JSON.stringify(version)}\nconst KIND = ${JSON.stringify(kind)}\n${SOURCE}`
}

/** The companion in KubeEdge's image. */
export function keadm(node: string, version: string): string {
  return `#!${node}\nconsole.log(${JSON.stringify(version)})\n`
}

/** edgecore's unit as keadm writes it, with less patience: the supervisor that an upgrade has to win against. */
export const EDGECORE_UNIT = `[Unit]
Description=edgecore.service

[Service]
Type=simple
ExecStart=/usr/local/bin/edgecore
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`
