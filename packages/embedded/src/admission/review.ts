import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import type { Resource } from '../registry/resource.ts'
import type { Attributes } from './attributes.ts'

/** The request of an AdmissionReview v1 (admission.k8s.io/v1), with the objects in the version of the target. */
export function reviewRequest(attributes: Attributes, target: Resource): JsonObject {
  const { call, operation, dryRun } = attributes
  const { resource, namespace, subresource, user } = call
  const name = call.name || attributes.object?.metadata.name || ''
  const object = inVersion(attributes.object, resource, target)
  const oldObject = inVersion(attributes.oldObject, resource, target)
  return {
    uid: randomUUID(),
    kind: { group: target.group, version: target.version, kind: target.kind },
    resource: { group: target.group, version: target.version, resource: target.plural },
    requestKind: { group: resource.group, version: resource.version, kind: resource.kind },
    requestResource: { group: resource.group, version: resource.version, resource: resource.plural },
    ...(subresource ? { subResource: subresource, requestSubResource: subresource } : {}),
    ...(name ? { name } : {}),
    ...(namespace ? { namespace } : {}),
    operation,
    userInfo: { username: user.username, groups: user.groups },
    object: object ?? null,
    oldObject: oldObject ?? null,
    dryRun,
    options: {
      kind: OPTIONS[operation],
      apiVersion: 'meta.k8s.io/v1',
      ...(dryRun ? { dryRun: ['All'] } : {}),
    },
  }
}

const OPTIONS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const

function inVersion(object: KubeObject | undefined, from: Resource, to: Resource): KubeObject | undefined {
  return object && (from === to ? object : to.fromStorage(from.toStorage(object)))
}
