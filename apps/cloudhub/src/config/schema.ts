import { PORTS } from '@upgrade-hub/protocol'
import { type Static, Type } from 'typebox'

const strict = { additionalProperties: false }
const Path = Type.String({ minLength: 1, maxLength: 4096 })
/** 0 means any free port. */
const Port = (port: number) => Type.Integer({ minimum: 0, maximum: 65_535, default: port })
const Role = Type.Boolean({ default: true })
const DnsName = Type.String({ pattern: '^[A-Za-z0-9*]([A-Za-z0-9.-]*[A-Za-z0-9])?$', maxLength: 253 })
const IpAddress = Type.String({ pattern: '^[0-9A-Fa-f:.]+$', maxLength: 45 })

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** The configuration of cloudhub: the YAML file, with flags and environment over it. Unknown keys are errors. */
export const HubConfig = Type.Object(
  {
    logLevel: Type.Unsafe<(typeof LOG_LEVELS)[number]>(
      Type.Union(
        LOG_LEVELS.map((level) => Type.Literal(level)),
        { default: 'info' },
      ),
    ),
    /** What this process does; several replicas may share the work differently. */
    roles: Type.Object({ controllers: Role, channel: Role, webhooks: Role }, { ...strict, default: {} }),
    /** Which API server, as kubectl would find it; inside a pod the service account when nothing is said. */
    kubernetes: Type.Object(
      {
        kubeconfig: Type.Optional(Path),
        context: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
        inCluster: Type.Boolean({ default: false }),
      },
      { ...strict, default: {} },
    ),
    /** A Kubernetes-compatible API server inside this process, for one machine. */
    embedded: Type.Object(
      {
        enabled: Type.Boolean({ default: false }),
        dataDir: { ...Path, default: './upgrade-hub-data' },
        port: Port(6443),
      },
      { ...strict, default: {} },
    ),
    listen: Type.Object(
      {
        host: Type.String({ minLength: 1, maxLength: 253, default: '0.0.0.0' }),
        websocketPort: Port(PORTS.websocket),
        httpsPort: Port(PORTS.https),
        webhookPort: Port(9443),
        metricsPort: Port(9808),
      },
      { ...strict, default: {} },
    ),
    /** How edges and the API server reach this hub: the names and addresses in its certificates. */
    advertise: Type.Object(
      {
        dnsNames: Type.Array(DnsName, { maxItems: 64, default: ['localhost'] }),
        ipAddresses: Type.Array(IpAddress, { maxItems: 64, default: ['127.0.0.1'] }),
      },
      { ...strict, default: {} },
    ),
    webhooks: Type.Object(
      {
        /** Name of the two webhook configurations whose caBundle is kept right. */
        configurationName: Type.String({
          pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
          maxLength: 253,
          default: 'upgrade-hub',
        }),
        /** The Service in front of the webhooks, for their certificate. */
        serviceName: Type.String({
          pattern: '^[a-z]([a-z0-9-]*[a-z0-9])?$',
          maxLength: 63,
          default: 'upgrade-hub-webhooks',
        }),
        /** Set: the hub makes the configurations itself, calling this address. Unset: they come from manifests. */
        url: Type.Optional(Type.String({ pattern: '^https://[^/\\s]+$', maxLength: 512 })),
      },
      { ...strict, default: {} },
    ),
    certificates: Type.Object(
      {
        /** How long a node's certificate is valid; edges renew at two thirds of it. */
        nodeDays: Type.Integer({ minimum: 1, maximum: 3650, default: 365 }),
        serverDays: Type.Integer({ minimum: 1, maximum: 825, default: 90 }),
      },
      { ...strict, default: {} },
    ),
    /** How long a stop may take before what is left is cut off. */
    stopSeconds: Type.Integer({ minimum: 1, maximum: 600, default: 20 }),
  },
  strict,
)
export type HubConfig = Static<typeof HubConfig>
