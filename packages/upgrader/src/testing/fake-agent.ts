/** How an agent program behaves when it is started as a service. */
export type AgentKind =
  | 'good'
  | 'crashes at once'
  | 'dies soon'
  | 'ignores TERM'
  | 'says another version'
  | 'needs a new config'

const BEHAVIOUR: Readonly<Record<AgentKind, string>> = {
  good: '',
  'crashes at once': 'exit 3',
  'dies soon': 'sleep 0.4; exit 5',
  'ignores TERM': "trap '' TERM",
  'says another version': '',
  'needs a new config': '[ -e "$1.new-config" ] || exit 4',
}

/**
 * A small real agent program (a script, because a test starts it hundreds of times): answers `--version`, else appends
 * `{version} {pid}` to the file that its first argument names and runs. `says another version` tells the truth only
 * outside of a folder named bin.
 */
export function agentProgram(version: string, kind: AgentKind = 'good'): string {
  const installed = kind === 'says another version' ? 'v0.0.1' : version
  return `#!/bin/sh
# ${kind}
if [ "$1" = --version ]; then
  case "$0" in */bin/*) echo "KubeEdge ${installed}" ;; *) echo "KubeEdge ${version}" ;; esac
  exit 0
fi
echo "${version} $$" >> "$1"
${BEHAVIOUR[kind]}
exec sleep 2147483
`
}
