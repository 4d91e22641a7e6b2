import { openSync, writeSync } from 'node:fs'
import { createLightLogger } from '@upgrade-hub/observability/light'

import { runCli } from './cli.ts'
import { COMMANDS } from './commands/table.ts'
import { readEnvironment } from './config.ts'

const environment = readEnvironment()
const logFile = environment.logFile === undefined ? undefined : openSync(environment.logFile, 'a', 0o600)

// Standard output belongs to the answer of a command; the log goes beside it.
const log = createLightLogger({
  level: 'info',
  name: 'edgeadm',
  destination: {
    write: (line) => {
      process.stderr.write(line)
      if (logFile !== undefined) writeSync(logFile, line)
    },
  },
})

// No `await` here: what ships is one CommonJS file.
void runCli({
  argv: process.argv.slice(2),
  commands: COMMANDS,
  environment,
  log,
  output: { out: (text) => console.log(text), err: (text) => console.error(text) },
}).then((code) => {
  process.exitCode = code
})
