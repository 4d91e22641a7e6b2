import { type Static, Type } from 'typebox'
import type { JobControl } from './control.ts'
import type { NodeUpgradeJobStatus } from './job-status.ts'
import type { ObjectMeta } from './meta.ts'
import { SPEC_RULES } from './rules.ts'
import { flag, integer, list, rules, text } from './schema-kit.ts'
import { LabelSelector, NodeName } from './selector.ts'
import { UpgradeHubSpec } from './upgrade-hub-spec.ts'

export const NodeUpgradeJobSpec = Type.Object(
  {
    version: text('The version to upgrade to, such as v1.12.0.', { maxLength: 128 }),
    timeoutSeconds: integer(
      'Seconds that each of the two phases, prepare and proceed, may take on a node. Default 300; 0 means 300.',
      { default: 300 },
    ),
    nodeNames: list(NodeName, {
      description: 'The nodes to upgrade, by name. Either this or labelSelector.',
      maxItems: 10_000,
    }),
    labelSelector: Type.Optional(
      Type.Object(LabelSelector.properties, {
        description: 'The nodes to upgrade, by label. Either this or nodeNames.',
      }),
    ),
    image: text(
      'The installation image. A tag is replaced by the version; a digest wins. Default kubeedge/installation-package.',
      { default: 'kubeedge/installation-package', maxLength: 512 },
    ),
    imageDigestGatter: Type.Optional(
      Type.Object(
        {
          amd64: text('Digest of the image on amd64, sha256:…', { maxLength: 80 }),
          arm64: text('Digest of the image on arm64, sha256:…', { maxLength: 80 }),
          value: text('Digest of the image on every platform, sha256:…', { maxLength: 80 }),
          registryAPI: Type.Optional(
            Type.Object(
              {
                host: Type.String({ description: 'The registry to ask, with its port.', maxLength: 253 }),
                token: Type.String({ description: 'The bearer token to ask with.', maxLength: 8192 }),
              },
              {
                description:
                  'Each node asks this registry for the digest of the image, too, and refuses another than it says.',
              },
            ),
          ),
        },
        { description: 'The digest that the image must have.' },
      ),
    ),
    concurrency: integer('Number of nodes that upgrade at the same time. Default 1; 0 means 1.', {
      default: 1,
    }),
    checkItems: list(Type.String({ maxLength: 63 }), {
      description: 'What is checked on the node first: cpu, mem, disk. Each fails above 80 percent use.',
      maxItems: 16,
    }),
    failureTolerate: text(
      'Ratio of failed nodes, from 0 to 1 as text, above which the job fails and no further node starts. Default "0.1".',
      { default: '0.1', maxLength: 32 },
    ),
    requireConfirmation: flag(
      'Wait on each node for `edgeadm ctl confirm` before the node is taken. Default false.',
    ),
    upgradeTool: text(
      'The tool that upgrades: keadm takes the image, exec is a program of the node. Default keadm.',
      { default: 'keadm', maxLength: 63 },
    ),
    upgradeHub: Type.Optional(UpgradeHubSpec),
  },
  { description: 'What to upgrade, and how. Immutable.', ...rules(...SPEC_RULES) },
)
export type NodeUpgradeJobSpec = Static<typeof NodeUpgradeJobSpec>

export const JOB_VERSIONS = ['v1alpha1', 'v1alpha2'] as const

/** `operations.kubeedge.io` NodeUpgradeJob in either version: the schema is the same. */
export interface NodeUpgradeJob {
  readonly apiVersion: `operations.kubeedge.io/${(typeof JOB_VERSIONS)[number]}`
  readonly kind: 'NodeUpgradeJob'
  readonly metadata: ObjectMeta
  readonly spec?: NodeUpgradeJobSpec
  readonly control?: JobControl
  readonly status?: NodeUpgradeJobStatus
}
