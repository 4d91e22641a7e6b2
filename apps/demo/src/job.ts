/** What the demo asks for: five nodes, two at a time, one of which may fail. */
export const OLD_VERSION = 'v1.22.0'
export const NEW_VERSION = 'v1.23.1'
export const JOB_NAME = 'spring-upgrade'

/** The manifest, as a user writes it. */
export function jobYaml(registry: string): string {
  return `apiVersion: operations.kubeedge.io/v1alpha2
kind: NodeUpgradeJob
metadata:
  name: ${JOB_NAME}
spec:
  version: ${NEW_VERSION}
  image: ${registry}/kubeedge/installation-package
  labelSelector:
    matchLabels:
      node-role.kubernetes.io/edge: ""
  concurrency: 2
  failureTolerate: "0.2"
  timeoutSeconds: 60
  upgradeHub:
    health:
      minReadySeconds: 3
`
}
