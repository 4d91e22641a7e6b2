/** How an agent program behaves when it is started as a service. */
export type AgentKind =
  | 'good'
  | 'crashes at once'
  | 'dies soon'
  | 'ignores TERM'
  | 'says another version'
  | 'needs a new config'

const DIES_AFTER_MS = 400

/**
 * A small real agent program: answers `--version`, else appends `{version} {pid}` to the file that its first argument
 * names and runs. `says another version` tells the truth only outside of a folder named bin.
 */
export function agentProgram(version: string, kind: AgentKind = 'good'): string {
  return `#!${process.execPath}
const { appendFileSync, existsSync } = require('node:fs')
const kind = ${JSON.stringify(kind)}
const installed = __filename.includes('/bin/')
if (process.argv.includes('--version')) {
  console.log('KubeEdge ' + (kind === 'says another version' && installed ? 'v0.0.1' : ${JSON.stringify(version)}))
} else {
  appendFileSync(process.argv[2], ${JSON.stringify(version)} + ' ' + process.pid + '\\n')
  if (kind === 'crashes at once') process.exit(3)
  if (kind === 'needs a new config' && !existsSync(process.argv[2] + '.new-config')) process.exit(4)
  if (kind === 'ignores TERM') process.on('SIGTERM', () => undefined)
  setTimeout(() => process.exit(5), kind === 'dies soon' ? ${DIES_AFTER_MS} : 2 ** 31 - 1)
}
`
}
