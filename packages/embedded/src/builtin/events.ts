import { assign, type Json, type JsonObject, objectAt, stringAt } from '../json.ts'
import { invalidValue, requiredValue } from '../names.ts'
import { type KubeObject, withType } from '../objects.ts'
import type { Cause } from '../schema/index.ts'

/** core/v1 field → events.k8s.io/v1 field. Both versions are one object, stored as core/v1. */
const RENAMED: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]

function rename(event: JsonObject, from: 0 | 1, to: 0 | 1): JsonObject {
  const fields: Record<string, Json | undefined> = {}
  for (const pair of RENAMED) {
    fields[pair[from]] = undefined
    const value = event[pair[from]]
    if (value !== undefined) fields[pair[to]] = value
  }
  return assign(event, fields)
}

export function eventToStorage(event: KubeObject): KubeObject {
  return { ...rename(event, 1, 0), apiVersion: 'v1' } as KubeObject
}

/** The wire form of events.k8s.io/v1. */
export function eventFromStorage(event: KubeObject): KubeObject {
  const { reportingController, reportingInstance, ...renamed } = rename(event, 0, 1)
  const named = assign(renamed, {
    reportingController: reportingController || undefined,
    reportingInstance: reportingInstance || undefined,
  })
  return withType(zeroNewEvent(named as KubeObject), 'events.k8s.io/v1', 'Event')
}

/** What core/v1 always shows. */
export function zeroEvent(event: KubeObject): KubeObject {
  return {
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
    ...event,
  } as unknown as KubeObject
}

/** What events.k8s.io/v1 always shows. */
export function zeroNewEvent(event: KubeObject): KubeObject {
  return {
    eventTime: null,
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    ...event,
  } as unknown as KubeObject
}

/** The namespace of an event is that of what it is about; of cluster-scoped things `default` (core/v1 rules). */
export function validateCoreEvent(event: KubeObject): readonly Cause[] {
  const about = stringAt(event, 'involvedObject', 'namespace')
  const { namespace = '' } = event.metadata
  if (
    about ? about === namespace : namespace === 'default' || namespace === 'kube-system' || namespace === ''
  )
    return []
  return [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')]
}

const REQUIRED = ['reportingController', 'reportingInstance', 'action', 'reason'] as const
const NOTE_MAX_BYTES = 1024
const NAME_MAX = 128

/** events.k8s.io/v1 asks more of a new event than core/v1 does. */
export function validateEvent(event: KubeObject, old: KubeObject | undefined): readonly Cause[] {
  const core = validateCoreEvent(eventToStorage(event))
  if (old) return core
  if (!event['eventTime']) return [...core, requiredValue('eventTime')]
  return [
    ...core,
    ...REQUIRED.filter((name) => !stringAt(event, name)).map((name) => requiredValue(name)),
    ...REQUIRED.filter((name) => stringAt(event, name).length > NAME_MAX).map((name) =>
      invalidValue(name, '', `can have at most ${NAME_MAX} characters`),
    ),
    ...(Buffer.byteLength(stringAt(event, 'note')) > NOTE_MAX_BYTES
      ? [invalidValue('message', '', `can have at most ${NOTE_MAX_BYTES} characters`)]
      : []),
    ...(['Normal', 'Warning'].includes(stringAt(event, 'type'))
      ? []
      : [invalidValue('type', '', `has invalid value: ${stringAt(event, 'type')}`)]),
  ]
}

const OBJECT_FIELDS = [
  'kind',
  'namespace',
  'name',
  'uid',
  'apiVersion',
  'resourceVersion',
  'fieldPath',
] as const

/** The names that select events, by version: `involvedObject` is `regarding` in events.k8s.io/v1. */
export function eventFieldNames(object: 'involvedObject' | 'regarding'): readonly string[] {
  const controller = object === 'regarding' ? ['reportingController'] : ['reportingComponent', 'source']
  return [...OBJECT_FIELDS.map((name) => `${object}.${name}`), 'reason', 'type', ...controller]
}

export function eventFields(event: KubeObject): Readonly<Record<string, string>> {
  const core = event['regarding'] === undefined && event['note'] === undefined ? event : eventToStorage(event)
  const involved = objectAt(core, 'involvedObject')
  const component = stringAt(core, 'reportingComponent')
  const entries = OBJECT_FIELDS.flatMap((name) => {
    const value = stringAt(involved, name)
    return [
      [`involvedObject.${name}`, value],
      [`regarding.${name}`, value],
    ]
  })
  return {
    ...Object.fromEntries(entries),
    reason: stringAt(core, 'reason'),
    type: stringAt(core, 'type'),
    source: stringAt(core, 'source', 'component') || component,
    reportingComponent: component,
    reportingController: component,
  }
}
