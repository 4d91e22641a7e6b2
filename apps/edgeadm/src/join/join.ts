import { realpathSync } from 'node:fs'
import { dirname, join as joinPath } from 'node:path'
import { makeFolder, parseEdgeConfig, runProgram, systemProgram, writeDurable } from '@upgrade-hub/upgrader'
import type { Command, CommandContext } from '../commands/command.ts'
import { EXIT } from '../exit-codes.ts'
import { configText, type Release, readIfThere } from './config-file.ts'
import { enrol, fetchCa } from './enrol.ts'
import { type JoinPlan, planJoin } from './plan.ts'
import { programsBeside, unitFiles } from './units.ts'

const SYSTEMCTL_TIMEOUT_MS = 60_000

/** keadm's verb: makes this machine a node of the hub. It may be run again at any time, after a crash too. */
export const join: Command = {
  name: 'join',
  summary: 'get a certificate from a hub and write the configuration and units of edgehub',
  options: {
    hub: { type: 'string' },
    token: { type: 'string' },
    'node-name': { type: 'string' },
    'https-port': { type: 'string' },
    'register-node': { type: 'boolean' },
    service: { type: 'string' },
    root: { type: 'string' },
  },
  help: [
    '--hub HOST[:PORT]   where its WebSocket is; the port is 10000 when it is not said',
    '--token TOKEN       from `cloudhub token create`, or - to read it from standard input',
    '--node-name NAME    the Node of this machine',
    '--https-port PORT   of the hub, default 10002',
    '--register-node     no kubelet or edged registers the Node: the hub shall do it',
    '--service systemd|process   what keeps the agent running, default systemd',
    '--root DIR          all files go below this folder, and nothing is started',
  ],
  run: runJoin,
}

async function runJoin({ values, print, log }: CommandContext): Promise<number> {
  const token = values['token'] === '-' ? await readToken() : values['token']
  const plan = planJoin({ ...values, token })
  const hub = new URL(plan.https)
  const existing = await readIfThere(plan.paths.config)
  const config = configText(plan, existing, installedRelease())
  const ca = await fetchCa(hub, plan.token.caHash)
  const key = await keyOf(plan)
  const credential = { jwt: plan.token.jwt }
  const cert = await enrol({ hub, nodeName: plan.nodeName, ca, key, credential })
  await write(plan.paths.ca, ca, 0o644)
  await write(plan.paths.cert, cert, 0o644)
  await write(plan.paths.config, config, 0o600)
  log.info({ node: plan.nodeName, hub: plan.https }, 'joined')
  const next = plan.service === 'systemd' ? await installUnits(plan, config) : await prepareFolders(plan)
  print(`${plan.nodeName} has joined ${plan.https}\n${next}`, {
    nodeName: plan.nodeName,
    config: plan.paths.config,
  })
  return EXIT.ok
}

/** Undefined in a checkout, which is upgraded by other means. */
function installedRelease(): Release | undefined {
  const edgeadm = realpathSync(process.argv[1] ?? '')
  if (!edgeadm.endsWith('.cjs')) return undefined
  return { runner: process.execPath, edgehub: joinPath(dirname(edgeadm), 'edgehub.cjs'), edgeadm }
}

/** The key is on disk before the hub hears of it: a join that dies on the way comes again with the same one. */
async function keyOf({ nodeName, paths }: JoinPlan): Promise<string> {
  const existing = await readIfThere(paths.key)
  if (existing !== undefined) return existing
  const { createNodeCsr } = await import('@upgrade-hub/pki')
  const { keyPem } = await createNodeCsr({ nodeName })
  await write(paths.key, keyPem, 0o600)
  return keyPem
}

async function installUnits({ paths }: JoinPlan, config: string): Promise<string> {
  const programs = programsBeside(process.execPath, realpathSync(process.argv[1] ?? ''))
  const settings = parseEdgeConfig(config, paths.config)
  const units = unitFiles(programs, paths.config, settings)
  for (const folder of [settings.paths.state, settings.paths.etc]) await makeFolder(folder)
  for (const [name, text] of Object.entries(units)) await write(joinPath(paths.units, name), text, 0o644)
  const systemctl = paths.root === '/' ? await systemProgram('systemctl') : undefined
  if (!systemctl) return 'start it with: systemctl enable --now upgrade-hub-resume.service edgehub.service'
  const timeout = { timeoutMs: SYSTEMCTL_TIMEOUT_MS }
  await runProgram(systemctl, ['daemon-reload'], timeout)
  await runProgram(systemctl, ['enable', 'upgrade-hub-resume.service', 'edgehub.service'], timeout)
  await runProgram(systemctl, ['restart', 'edgehub.service'], timeout)
  return 'edgehub.service is enabled and started'
}

async function prepareFolders({ paths }: JoinPlan): Promise<string> {
  for (const folder of [paths.state, paths.run, dirname(paths.agentLog)]) await makeFolder(folder)
  return `start it with: edgehub --config ${paths.config}`
}

async function write(path: string, text: string, mode: number): Promise<void> {
  await makeFolder(dirname(path), 0o755)
  await writeDurable(path, text, mode)
}

/** Arguments are seen by everybody who lists processes; standard input is not. */
async function readToken(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk as string
    if (text.length > 4096) break
  }
  return text.trim()
}
