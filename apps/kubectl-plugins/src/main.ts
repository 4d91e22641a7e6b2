import { systemClock } from '@upgrade-hub/core'
import { runPlugin } from './cli/run.ts'
import { readEnvironment } from './config.ts'
import { readCapped } from './plan/read-manifest.ts'
import { PLUGINS } from './plugins.ts'
import { terminalOf } from './text/terminal.ts'

/** What a shell shows for a program that SIGPIPE ended. */
const BROKEN_PIPE = 141

const [program = '', ...argv] = process.argv.slice(2)
const plugin = PLUGINS[program]
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
// `kubectl nodeupgrade status | head` is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? BROKEN_PIPE : 1))
}

if (plugin) {
  process.exitCode = await runPlugin({
    plugin,
    argv,
    clock: systemClock,
    terminal: terminalOf({ out: process.stdout, err: process.stderr, ...readEnvironment() }),
    signal: stop.signal,
    readInput: () => readCapped(process.stdin),
  })
} else {
  console.error(`there is no plugin ${program}: start kubectl-${Object.keys(PLUGINS).join(' or kubectl-')}`)
  process.exitCode = 2
}
