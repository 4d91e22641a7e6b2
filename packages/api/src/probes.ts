import { type Static, Type } from 'typebox'
import { integer, list, rules } from './schema-kit.ts'

const PORT = { minimum: 1, maximum: 65_535, format: 'int32' } as const
const SECONDS = { minimum: 0, maximum: 3600 } as const
const THRESHOLD = { minimum: 1, maximum: 1000 } as const

/** How a new agent is asked on its own node whether it works. */
const HealthProbe = Type.Object(
  {
    exec: Type.Optional(
      Type.Object(
        {
          name: Type.String({
            description: "The name of a program in the node's own list, policy.probes.",
            minLength: 1,
            maxLength: 64,
          }),
        },
        { description: 'Run a program; exit code 0 is healthy.' },
      ),
    ),
    httpGet: Type.Optional(
      Type.Object(
        {
          port: Type.Integer({ description: 'The port on 127.0.0.1 of the node.', ...PORT }),
          path: Type.String({
            description: 'The path and query to ask for.',
            pattern: '^/[!-~]*$',
            maxLength: 1024,
          }),
        },
        { description: 'Ask by HTTP; a status from 200 to 399 is healthy.' },
      ),
    ),
    tcpSocket: Type.Optional(
      Type.Object(
        { port: Type.Integer({ description: 'The port on 127.0.0.1 of the node.', ...PORT }) },
        { description: 'Open a TCP connection; that it opens is healthy.' },
      ),
    ),
    initialDelaySeconds: integer('Seconds after the start before the first try. Default 0.', SECONDS),
    periodSeconds: integer('Seconds between two tries. Default 10.', { minimum: 1, maximum: 3600 }),
    timeoutSeconds: integer('Seconds that one try may take. Default 1.', { minimum: 1, maximum: 60 }),
    successThreshold: integer('Tries in a row that must be fine. Default 1.', THRESHOLD),
    failureThreshold: integer('Tries in a row after which the upgrade is rolled back. Default 3.', THRESHOLD),
  },
  {
    description: 'One of exec, httpGet and tcpSocket.',
    ...rules({
      rule: '(has(self.exec) ? 1 : 0) + (has(self.httpGet) ? 1 : 0) + (has(self.tcpSocket) ? 1 : 0) == 1',
      message: 'a probe is one of exec, httpGet and tcpSocket',
    }),
  },
)
export type HealthProbe = Static<typeof HealthProbe>

export const HealthProbes = list(HealthProbe, {
  description: 'Probes that the new agent must pass on its node before the upgrade is kept. Default none.',
  maxItems: 8,
})
