import { PkiError } from './errors.ts'

/** RFC 1123 subdomain, as the API server demands of a Node's name. */
const NODE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const MAX_NODE_NAME_LENGTH = 253

/** Kubernetes' user name of a node, the certificate's common name. */
export const NODE_CN_PREFIX = 'system:node:'
/** Kubernetes' group of all nodes, the certificate's organization. */
export const NODE_ORGANIZATION = 'system:nodes'

export function isNodeName(text: string): boolean {
  return text.length <= MAX_NODE_NAME_LENGTH && NODE_NAME.test(text)
}

/** @throws PkiError PKI_NAME_INVALID */
export function nodeCommonName(nodeName: string): string {
  if (!isNodeName(nodeName)) {
    throw new PkiError(
      'PKI_NAME_INVALID',
      `${JSON.stringify(nodeName.slice(0, 100))} is not a name of a node`,
    )
  }
  return `${NODE_CN_PREFIX}${nodeName}`
}
