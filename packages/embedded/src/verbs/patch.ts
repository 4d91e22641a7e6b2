import { HubError } from '@upgrade-hub/core'
import { badRequest, conflict, JsonPatchError, StatusError, unsupportedMediaType } from '../errors.ts'
import { type Call, nameOf } from '../http/call.ts'
import { type WriteOptions, writeOptions } from '../http/options.ts'
import { mediaType } from '../http/payload.ts'
import type { Reply } from '../http/reply.ts'
import { isArray, isObject, type Json, type JsonObject, textOf } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { applyMergePatch } from '../patch/merge-patch.ts'
import { applyStrategicPatch } from '../patch/strategic-patch.ts'
import { groupVersion } from '../registry/resource.ts'
import { parseStrictJson } from '../schema/index.ts'
import { decode } from './read-object.ts'
import { updateObject } from './update.ts'

const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json'

/** What is a patch to a Kubernetes API, served or not. */
const PATCHES = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, 'application/apply-patch+yaml']

/** PATCH of an object or its status. Server-side apply is refused with 415. */
export async function patch(call: Call): Promise<Reply> {
  const options = writeOptions(call.query, 'PatchOptions')
  const type = mediaType(call.headers['content-type'])
  const accepted = call.resource.custom
    ? [JSON_PATCH, MERGE_PATCH]
    : [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH]
  const text = (await call.body()).toString('utf8')
  if (!call.resource.custom && !PATCHES.includes(type))
    throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted)
  const { value, duplicates } = parsePatch(text)
  const apply = patcher(call, type, value)
  const object = await updateObject(
    call,
    (current) => patched(call, current, { apply, options, duplicates }),
    options,
  )
  return { status: 200, object }
}

function parsePatch(text: string): { value: Json; duplicates: readonly string[] } {
  try {
    return parseStrictJson(text)
  } catch (error) {
    if (error instanceof HubError) throw badRequest('invalid JSON patch')
    throw error
  }
}

type Patcher = (current: JsonObject) => Json

function patcher(call: Call, type: string, value: Json): Patcher {
  if (type === JSON_PATCH) {
    if (!isArray(value))
      throw badRequest(
        'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
      )
    return (current) => applyJsonPatch(current, value)
  }
  if (!isObject(value)) {
    const found = isArray(value) ? 'array' : typeof value
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
    )
  }
  if (type === MERGE_PATCH) return (current) => applyMergePatch(current, value)
  return (current) => applyStrategicPatch(current, value, call.resource.schema)
}

interface PatchPlan {
  readonly apply: Patcher
  readonly options: WriteOptions
  readonly duplicates: readonly string[]
}

function patched(call: Call, current: KubeObject, { apply, options, duplicates }: PatchPlan): KubeObject {
  const next = applied(apply, current)
  if (!isObject(next)) throw badRequest('the patch leaves no object')
  const refuse = (why: string) => patchRefused(next, why)
  const expected = groupVersion(call.resource)
  if (next['kind'] !== call.resource.kind || next['apiVersion'] !== expected) {
    const kind = textOf(next['kind'])
    throw refuse(`no kind ${JSON.stringify(kind)} is registered for version "${textOf(next['apiVersion'])}"`)
  }
  const object = decode(call, next, { validation: options.fieldValidation, duplicates, refuse })
  const { resourceVersion } = object.metadata
  if (resourceVersion && resourceVersion !== current.metadata.resourceVersion)
    throw conflict(call.resource, nameOf(call))
  return object
}

function applied(apply: Patcher, current: KubeObject): Json {
  try {
    return apply(current)
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error
    throw new StatusError(
      422,
      'Invalid',
      'the server rejected our request due to an error in our request',
      {},
    )
  }
}

const SHOWN_BYTES = 4096

/** A patch whose result is no object of the kind: 422 about the patch. */
function patchRefused(next: Json, why: string): StatusError {
  const message = `Invalid value: ${JSON.stringify(JSON.stringify(next).slice(0, SHOWN_BYTES))}: ${why}`
  const causes = [{ reason: 'FieldValueInvalid', message, field: 'patch' }]
  return new StatusError(422, 'Invalid', ` "" is invalid: patch: ${message}`, { causes })
}
