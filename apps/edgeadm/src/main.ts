import { createLightLogger } from '@upgrade-hub/observability/light'
import { runCli } from './cli.ts'
import { COMMANDS } from './commands/table.ts'
import { readEnvironment } from './config.ts'

// Standard output belongs to the answer of a command; the log goes beside it.
const log = createLightLogger({
  level: 'info',
  name: 'edgeadm',
  destination: { write: (line) => process.stderr.write(line) },
})

process.exitCode = await runCli({
  argv: process.argv.slice(2),
  commands: COMMANDS,
  environment: readEnvironment(),
  log,
  output: { out: (text) => console.log(text), err: (text) => console.error(text) },
})
