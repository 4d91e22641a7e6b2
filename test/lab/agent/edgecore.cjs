const { appendFileSync, existsSync, mkdirSync } = require('node:fs')
const { DatabaseSync } = require('node:sqlite')

const FOLDER = '/var/lib/kubeedge'
const CONFIG = '/etc/kubeedge/config/edgecore.yaml'
const isInstalled = process.argv[1] === '/usr/local/bin/edgecore'

if (process.argv.includes('--version')) version()
else run()

function version() {
  if (KIND === 'hangs' && isInstalled) setInterval(() => undefined, 60_000)
  else console.log(`KubeEdge ${KIND === 'says another version' && isInstalled ? 'v0.0.1' : VERSION}`)
}

function run() {
  mkdirSync(FOLDER, { recursive: true })
  appendFileSync(`${FOLDER}/starts.log`, `${VERSION}\n`)
  note()
  if (KIND === 'crashes at once') process.exit(3)
  if (KIND === 'needs a new config' && !existsSync(`${CONFIG}.new`)) process.exit(4)
  if (KIND === 'dies after 5 s') setTimeout(() => process.exit(5), 5_000)
  process.on('SIGTERM', () => {
    if (KIND === 'stops slowly') setTimeout(() => process.exit(0), 2_000)
    else if (KIND !== 'ignores TERM') process.exit(0)
  })
  setInterval(() => undefined, 60_000)
}

/** A database that each version leaves its mark in, as edgecore's own has a schema. */
function note() {
  const database = new DatabaseSync(`${FOLDER}/edgecore.db`)
  database.exec('CREATE TABLE IF NOT EXISTS starts (version TEXT)')
  database.prepare('INSERT INTO starts VALUES (?)').run(VERSION)
  database.close()
}
