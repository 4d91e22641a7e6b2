// A small real agent for the demo: it prints its version, reads its configuration, runs until it is told to stop.
// The first line and VERSION are put in front when an installation image is made of it.

// Neither import nor require: a program without an extension is one kind of module in one folder and another elsewhere.
const { readFileSync } = process.getBuiltinModule('node:fs')

const RELEASED_WITHOUT_LEGACY = 'v1.23.1'

if (process.argv.includes('--version')) {
  console.log(`KubeEdge ${VERSION}`)
  process.exit(0)
}

const config = readFileSync(process.argv[process.argv.indexOf('--config') + 1], 'utf8')
console.log(`${new Date().toISOString()} edgecore ${VERSION} started, pid ${process.pid}`)

// As real releases do: a field of an old configuration is gone, and the new program ends a moment after it started.
if (VERSION === RELEASED_WITHOUT_LEGACY && /^\s*legacyDeviceTwin:/m.test(config)) {
  setTimeout(() => {
    console.error(
      `edgecore ${VERSION}: modules.legacyDeviceTwin was removed in ${RELEASED_WITHOUT_LEGACY}, cannot start`,
    )
    process.exit(1)
  }, 700)
}

const stop = () => {
  console.log(`${new Date().toISOString()} edgecore ${VERSION} stops`)
  process.exit(0)
}
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
setInterval(() => undefined, 60_000)
