import { mkdirSync, readFileSync } from 'node:fs'
import { systemClock } from '@upgrade-hub/core'
import { startEmbedded } from '@upgrade-hub/embedded'
import { createLogger } from '@upgrade-hub/observability'
import { createCa } from '@upgrade-hub/pki'
import type { EmbeddedSettings } from './embedded-plane.ts'

/** `embedded-main.ts SETTINGS`: serves until SIGTERM; its first line on stdout says where, as JSON. */
const settings = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as EmbeddedSettings
mkdirSync(settings.dataDir, { recursive: true })
const ca = await createCa({ commonName: 'upgrade-hub-test', validDays: 1 })
const server = await ca.issueServer({ dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], validDays: 1 })
const embedded = await startEmbedded({
  dataDir: settings.dataDir,
  host: '127.0.0.1',
  port: settings.port,
  tls: { cert: server.certPem, key: server.keyPem, ca: ca.certPem },
  tokens: settings.tokens,
  clock: systemClock,
  log: createLogger({ level: 'warn', name: 'embedded' }),
})
console.log(JSON.stringify({ url: embedded.url, caPem: ca.certPem }))
process.once('SIGTERM', () => void embedded.stop())
