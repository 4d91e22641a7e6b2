import { createLightLogger } from '@upgrade-hub/observability/light'
import { runCli } from './cli.ts'
import { COMMANDS } from './commands/table.ts'
import { readEnvironment } from './config.ts'
import { logDestination } from './log-destination.ts'

const environment = readEnvironment()

const log = createLightLogger({
  level: 'info',
  name: 'edgeadm',
  destination: logDestination(environment.logFile),
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
