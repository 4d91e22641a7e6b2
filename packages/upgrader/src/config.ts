import { readFile } from 'node:fs/promises'
import { ConfigError, messageOf } from '@upgrade-hub/core'
import { problemsOf, Type, withDefaults } from '@upgrade-hub/core/schema'
import { HealthProbe } from '@upgrade-hub/protocol'
import { CORE_SCHEMA, load } from 'js-yaml'
import type { Static } from 'typebox'
import { errnoOf } from './host/durable.ts'
import { probeProblem } from './probe-rules.ts'

const strict = { additionalProperties: false }
const Path = Type.String({ pattern: '^/[^\\0]*$', maxLength: 4096 })
const Host = Type.String({ pattern: '^[A-Za-z0-9.-]+(:[0-9]{1,5})?$', maxLength: 260 })
const Text = Type.String({ minLength: 1, maxLength: 512 })
const Name = Type.String({ pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$', maxLength: 64 })
const Command = Type.Array(Type.String({ maxLength: 4096 }), { minItems: 1, maxItems: 64 })
const Texts = Type.Array(Text, { maxItems: 64 })

const SystemdService = Type.Object(
  {
    manager: Type.Literal('systemd'),
    unit: Type.String({ pattern: '^[A-Za-z0-9:_.@-]+\\.service$', maxLength: 255 }),
  },
  strict,
)

const ProcessService = Type.Object(
  {
    manager: Type.Literal('process'),
    args: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 64 }),
    pidFile: Path,
    logFile: Path,
    env: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }), Type.String({ maxLength: 4096 })),
    ),
  },
  strict,
)

/** How the agent is kept running: a unit of systemd, or a process of its own where there is no init system. */
export const ServiceConfig = Type.Union([SystemdService, ProcessService])
export type ServiceConfig = Static<typeof ServiceConfig>

/** What is upgraded: a program, the files that come with it, and how it is run and asked for its version. */
export const Component = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$', maxLength: 64 }),
    binary: Path,
    companions: Type.Array(Path, { maxItems: 16, default: [] }),
    /** What runs the binary when it is no program by itself, such as the Node of edgehub. It is not upgraded. */
    runner: Type.Optional(Path),
    service: ServiceConfig,
    /** Between SIGTERM and SIGKILL. */
    stopSeconds: Type.Integer({ minimum: 1, maximum: 300, default: 10 }),
    versionArgs: Type.Array(Type.String({ maxLength: 256 }), { maxItems: 16, default: ['--version'] }),
    state: Type.Object({ config: Type.Optional(Path), db: Type.Optional(Path) }, { ...strict, default: {} }),
    /** Asked of every agent on trial, old or new, beside those of the job. */
    probes: Type.Array(Type.Object(HealthProbe.properties, strict), { maxItems: 8, default: [] }),
  },
  strict,
)
export type Component = Static<typeof Component>

const Hosts = Type.Array(Host, { maxItems: 64 })
const ProxyUrl = Type.String({ pattern: '^https?://[^\\s/]+/?$', maxLength: 1024 })

/** Whom this node asks for images, and how. */
const RegistryConfig = Type.Object(
  {
    /** Hosts (with port) that are asked by HTTP. */
    plainHttp: { ...Hosts, default: [] },
    /** PEM of a private CA, beside the system's; read again for each pull. */
    caFile: Type.Optional(Path),
    /** Registries, token servers and storage that may be asked, also at private addresses; empty: every public one. */
    allow: { ...Hosts, default: [] },
    /** Host by host, who is asked in its place, in order. */
    mirrors: Type.Record(Host, Hosts, { ...strict, maxProperties: 64, default: {} }),
    /** A docker config.json; only its `auths` are read, and again for each pull. */
    credentialsFile: Type.Optional(Path),
    /** By which proxies to go out, rather than by those that the environment names. */
    proxy: Type.Optional(
      Type.Object(
        {
          /** Also for HTTPS where `https` is not given. */
          http: Type.Optional(ProxyUrl),
          https: Type.Optional(ProxyUrl),
          noProxy: Type.Array(Text, { maxItems: 256, default: [] }),
        },
        strict,
      ),
    ),
  },
  { ...strict, default: {} },
)

/** The file /etc/kubeedge/config/edgehub.yaml, read by edgehub and edgeadm. */
export const EdgeConfig = Type.Object(
  {
    nodeName: Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$', maxLength: 253 }),
    hub: Type.Object(
      {
        websocket: Type.String({ pattern: '^wss://[^/\\s]+', maxLength: 512 }),
        https: Type.String({ pattern: '^https://[^/\\s]+', maxLength: 512 }),
      },
      strict,
    ),
    certificates: Type.Object({ ca: Path, cert: Path, key: Path }, strict),
    registerNode: Type.Boolean({ default: false }),
    registry: RegistryConfig,
    policy: Type.Object(
      {
        tools: { ...Texts, default: ['keadm'] },
        images: { ...Texts, default: [] },
        downgradeFloor: Type.Optional(Text),
        /** The program of the upgrade tool `exec`: an absolute path and arguments. */
        exec: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 64, default: [] }),
        /** By name, the programs (absolute path and arguments) that a probe may run. */
        probes: Type.Record(Name, Command, { ...strict, maxProperties: 64, default: {} }),
      },
      { ...strict, default: {} },
    ),
    components: Type.Array(Component, { minItems: 1, maxItems: 16 }),
    paths: Type.Object(
      {
        state: { ...Path, default: '/var/lib/upgrade-hub' },
        etc: { ...Path, default: '/etc/kubeedge' },
        run: { ...Path, default: '/run/upgrade-hub' },
      },
      { ...strict, default: {} },
    ),
    logLevel: Type.Union(
      ['debug', 'info', 'warn', 'error'].map((level) => Type.Literal(level)),
      { default: 'info' },
    ),
    detach: Type.Union([Type.Literal('systemd'), Type.Literal('session')], { default: 'systemd' }),
  },
  strict,
)
export type EdgeConfig = Static<typeof EdgeConfig>

const MAX_CONFIG_BYTES = 256 * 1024

/** Reads and checks the edge's configuration, defaults filled in. @throws ConfigError that lists every problem. */
export async function loadEdgeConfig(path: string): Promise<EdgeConfig> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const isMissing = errnoOf(error) === 'ENOENT'
    throw new ConfigError(path, [
      isMissing ? 'there is no such file: edgeadm join writes it' : messageOf(error),
    ])
  })
  return parseEdgeConfig(text, path)
}

/** The same from a text. @throws ConfigError */
export function parseEdgeConfig(text: string, source = 'configuration'): EdgeConfig {
  if (text.length > MAX_CONFIG_BYTES) throw new ConfigError(source, [`larger than ${MAX_CONFIG_BYTES} bytes`])
  const value = withDefaults(EdgeConfig, parseYaml(text, source))
  const found = [...problemsOf(EdgeConfig, value)].map(({ path, message }) => `${path || '/'} ${message}`)
  if (found.length > 0) throw new ConfigError(source, found)
  const config = value as EdgeConfig
  const problems = crossChecks(config)
  if (problems.length > 0) throw new ConfigError(source, problems)
  return config
}

/** The component of that name; undefined when this node has none. */
export function componentOf(config: EdgeConfig, name: string): Component | undefined {
  return config.components.find((component) => component.name === name)
}

function parseYaml(text: string, source: string): unknown {
  try {
    return load(text, { schema: CORE_SCHEMA })
  } catch (error) {
    throw new ConfigError(source, [messageOf(error)])
  }
}

function crossChecks(config: EdgeConfig): string[] {
  const names = config.components.map((component) => component.name)
  const twice = names.filter((name, at) => names.indexOf(name) !== at)
  const relative = Object.entries(config.policy.probes).filter(([, [program]]) => !program?.startsWith('/'))
  const { exec, tools } = config.policy
  const lacksExec = tools.includes('exec') && !exec[0]?.startsWith('/')
  const asked = config.components.flatMap(({ probes }) => probes)
  return [
    ...twice.map((name) => `/components has ${name} twice`),
    ...(lacksExec ? ['/policy/exec does not begin with an absolute path, and /policy/tools has exec'] : []),
    ...relative.map(([name]) => `/policy/probes/${name} does not begin with an absolute path`),
    ...asked.map((probe) => probeProblem(probe, config)).filter((problem) => problem !== undefined),
  ]
}
