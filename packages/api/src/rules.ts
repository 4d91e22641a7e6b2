import { type CelRule, RATIO } from './schema-kit.ts'

/**
 * The rules of NodeUpgradeJob that hold with every webhook down. KubeEdge's sentences are the messages, word for word
 * (cloud/pkg/admissioncontroller/admit_nodeupgradejob.go).
 *
 * `onCreate` rules judge new specs only: a stored KubeEdge job of any quality can still be labelled and deleted.
 */
function onCreate(rule: string, rest: Omit<CelRule, 'rule' | 'optionalOldSelf'>): CelRule {
  return {
    rule: `oldSelf.hasValue() || (${rule})`,
    optionalOldSelf: true,
    reason: 'FieldValueInvalid',
    ...rest,
  }
}

const KUBEEDGE_VERSION = String.raw`^v[0-9]+[.][0-9]+[.][0-9]+(-[a-zA-Z0-9_.]+(-[a-zA-Z0-9_.]+)*)?$`
const SEMVER = String.raw`^v?(0|[1-9][0-9]*)[.](0|[1-9][0-9]*)[.](0|[1-9][0-9]*)(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)([.](0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?([+][0-9a-zA-Z-]+([.][0-9a-zA-Z-]+)*)?$`
const IMAGE = String.raw`^[A-Za-z0-9][A-Za-z0-9._:-]*/[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*(@sha256:[A-Fa-f0-9]{64}|:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$`

const hasNames = 'has(self.nodeNames) && size(self.nodeNames) > 0'
const selectorIsEmpty =
  '(!has(self.labelSelector.matchLabels) || size(self.labelSelector.matchLabels) == 0) && (!has(self.labelSelector.matchExpressions) || size(self.labelSelector.matchExpressions) == 0)'

export const SPEC_RULES: readonly CelRule[] = [
  onCreate(
    `has(self.version) && (self.version.matches('${KUBEEDGE_VERSION}') || self.version.matches('${SEMVER}'))`,
    {
      message: 'invalid version',
      messageExpression: "'invalid version ' + (has(self.version) ? self.version : '\"\"')",
      fieldPath: '.version',
    },
  ),
  onCreate(`!has(self.image) || self.image == '' || self.image.matches('${IMAGE}')`, {
    message: 'invalid image repo',
    messageExpression: "'invalid image repo ' + self.image",
    fieldPath: '.image',
  }),
  onCreate(`(${hasNames}) || has(self.labelSelector)`, {
    message: 'both NodeNames and LabelSelector are NOT specified',
    reason: 'FieldValueRequired',
    fieldPath: '.nodeNames',
  }),
  onCreate(`!((${hasNames}) && has(self.labelSelector))`, {
    message: 'both NodeNames and LabelSelector are specified',
    fieldPath: '.nodeNames',
  }),
  onCreate(
    `!has(self.labelSelector) || !(${selectorIsEmpty}) || (has(self.upgradeHub) && has(self.upgradeHub.allNodes) && self.upgradeHub.allNodes)`,
    {
      message:
        'an empty labelSelector means every edge node: set upgradeHub.allNodes to true if that is meant',
      fieldPath: '.labelSelector',
    },
  ),
  onCreate(
    `!has(self.failureTolerate) || self.failureTolerate == '' || self.failureTolerate.matches('${RATIO}')`,
    {
      message: 'failureTolerate is a ratio from 0 to 1 written as text, such as "0.1"',
      fieldPath: '.failureTolerate',
    },
  ),
  onCreate("!has(self.checkItems) || self.checkItems.all(item, item in ['cpu', 'mem', 'disk'])", {
    message: 'checkItems knows cpu, mem and disk',
    fieldPath: '.checkItems',
  }),
  onCreate('!has(self.concurrency) || (self.concurrency >= 0 && self.concurrency <= 10000)', {
    message: 'concurrency is a number of nodes from 1 to 10000 (0 means 1)',
    fieldPath: '.concurrency',
  }),
  onCreate('!has(self.timeoutSeconds) || (self.timeoutSeconds >= 0 && self.timeoutSeconds <= 604800)', {
    message: 'timeoutSeconds is a number of seconds from 1 to 604800 (0 means 300)',
    fieldPath: '.timeoutSeconds',
  }),
  onCreate(
    "!has(self.upgradeHub) || !has(self.upgradeHub.waves) || self.upgradeHub.waves.all(w, w.name != 'rest')",
    {
      message: 'rest is the name of the last wave, which takes the nodes that no other wave took',
      fieldPath: '.upgradeHub.waves',
    },
  ),
  onCreate("!has(self.upgradeTool) || self.upgradeTool in ['', 'keadm', 'exec']", {
    message: 'upgradeTool knows keadm and exec',
    fieldPath: '.upgradeTool',
  }),
  onCreate(
    "!has(self.imageDigestGatter) || !has(self.imageDigestGatter.registryAPI) || (self.imageDigestGatter.registryAPI.host.matches('^[A-Za-z0-9.-]+(:[0-9]{1,5})?$') && self.imageDigestGatter.registryAPI.token.matches('^[!-~]+$'))",
    {
      message:
        'imageDigestGatter.registryAPI has a host such as registry.example:5000, and a token without spaces',
      fieldPath: '.imageDigestGatter',
    },
  ),
  onCreate(
    "!has(self.imageDigestGatter) || ((!has(self.imageDigestGatter.amd64) || self.imageDigestGatter.amd64.matches('^(sha256:[a-f0-9]{64})?$')) && (!has(self.imageDigestGatter.arm64) || self.imageDigestGatter.arm64.matches('^(sha256:[a-f0-9]{64})?$')) && (!has(self.imageDigestGatter.value) || self.imageDigestGatter.value.matches('^(sha256:[a-f0-9]{64})?$')))",
    {
      message: 'a digest is written sha256: and 64 lower-case hex digits',
      fieldPath: '.imageDigestGatter',
    },
  ),
]

export const JOB_RULES: readonly CelRule[] = [
  {
    rule: 'has(self.spec) == has(oldSelf.spec) && (!has(self.spec) || self.spec == oldSelf.spec)',
    message: "spec fields are not allowed to update once it's created",
    reason: 'FieldValueForbidden',
    fieldPath: '.spec',
  },
  {
    rule: 'oldSelf.hasValue() || has(self.spec)',
    optionalOldSelf: true,
    message: 'both NodeNames and LabelSelector are NOT specified',
    reason: 'FieldValueRequired',
    fieldPath: '.spec',
  },
  {
    rule: '!has(oldSelf.control) || has(self.control)',
    message: 'control cannot be removed once it is set; change the fields in it',
    reason: 'FieldValueForbidden',
    fieldPath: '.control',
  },
  {
    rule: '!(has(oldSelf.control) && has(oldSelf.control.cancelled) && oldSelf.control.cancelled) || (has(self.control) && has(self.control.cancelled) && self.control.cancelled)',
    message: 'a cancelled job stays cancelled: create a new job',
    reason: 'FieldValueForbidden',
    fieldPath: '.control',
  },
  {
    rule: '!(has(oldSelf.control) && has(oldSelf.control.approvals)) || (has(self.control) && has(self.control.approvals) && oldSelf.control.approvals.all(o, self.control.approvals.exists(s, s == o)))',
    message: 'an approval that was given cannot be changed or taken back: pause or cancel the job',
    reason: 'FieldValueForbidden',
    fieldPath: '.control',
  },
  {
    rule: '!(has(oldSelf.control) && has(oldSelf.control.retry)) || (has(self.control) && has(self.control.retry) && self.control.retry >= oldSelf.control.retry)',
    message: 'control.retry counts the retries that were asked for: it can only be raised',
    reason: 'FieldValueForbidden',
    fieldPath: '.control',
  },
]
