import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { makePackage } from './package.ts'

const DIST = fileURLToPath(new URL('../../../dist', import.meta.url))
const USAGE = `npm run package [-- OPTIONS]: the archive that is installed on a node

  --into FOLDER   where it goes, default dist
  --node FILE     the Node that it brings, default the one that runs this; it says for what machine the archive is

On the node: tar -C / -xzf ARCHIVE, then edgeadm join (docs/node.md)
`

const { values } = parseArgs({
  options: {
    into: { type: 'string', default: DIST },
    node: { type: 'string', default: process.execPath },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) console.log(USAGE)
else {
  const { archive, sha256 } = await makePackage({ into: values.into, node: values.node })
  console.log(`${sha256}  ${archive}`)
}
