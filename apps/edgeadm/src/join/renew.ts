import { readFile } from 'node:fs/promises'
import { writeDurable } from '@upgrade-hub/upgrader'
import type { Command, CommandContext } from '../commands/command.ts'
import { EXIT } from '../exit-codes.ts'
import { enrol } from './enrol.ts'

/** Run by edgehub in time, and by hand when in doubt. The key stays, so one rename is the whole change. */
export const certRenew: Command = {
  name: 'cert renew',
  summary: "renew this node's certificate with the one it has",
  options: {},
  help: [],
  run: runRenew,
}

async function runRenew({ config: load, print, log }: CommandContext): Promise<number> {
  const { nodeName, hub, certificates } = await load()
  const [ca, cert, key] = await Promise.all(
    [certificates.ca, certificates.cert, certificates.key].map((path) => readFile(path, 'utf8')),
  )
  const renewed = await enrol({
    hub: new URL(hub.https),
    nodeName,
    ca: ca ?? '',
    key: key ?? '',
    credential: { cert: cert ?? '' },
  })
  await writeDurable(certificates.cert, renewed, 0o644)
  log.info({ node: nodeName }, 'certificate renewed')
  print(`the certificate of ${nodeName} is renewed`, { nodeName })
  return EXIT.ok
}
