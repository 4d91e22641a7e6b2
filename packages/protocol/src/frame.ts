import { randomUUID } from 'node:crypto'
import { ProtocolError } from './errors.ts'
import { LIMITS } from './limits.ts'
import { OPERATION } from './operations.ts'
import type { Envelope } from './schemas.ts'
import { type ContentName, validate } from './validate.ts'

/** A frame as the sender means it. */
export interface FrameDraft {
  readonly operation: string
  readonly resource?: string
  readonly content: unknown
  /** The msg_id of the frame that this answers. */
  readonly parentId?: string
}

/** A frame as it was received, its content checked against the schema of its operation. */
export interface Frame {
  readonly operation: string
  readonly resource: string
  readonly content: unknown
  readonly msgId: string
  readonly parentId?: string
}

/** Which content each operation carries; an operation that is not here is unknown to this version. */
const CONTENT_OF: Readonly<Record<string, ContentName>> = {
  [OPERATION.hello]: 'Hello',
  [OPERATION.welcome]: 'Welcome',
  [OPERATION.keepalive]: 'Keepalive',
  [OPERATION.prepare]: 'Prepare',
  [OPERATION.proceed]: 'Proceed',
  [OPERATION.cancel]: 'TaskRef',
  [OPERATION.answer]: 'Answer',
  [OPERATION.progress]: 'Progress',
  [OPERATION.result]: 'Result',
  [OPERATION.stored]: 'Stored',
  [OPERATION.goAway]: 'GoAway',
  [OPERATION.error]: 'WireError',
}

/** KubeEdge's words for who speaks: `taskmanager` in the cloud, `hub` at the edge. */
const SPEAKERS = {
  cloud: { source: 'taskmanager', group: 'taskmanager' },
  edge: { source: 'websocket', group: 'hub' },
} as const
export type Speaker = keyof typeof SPEAKERS

/** The text of a frame. @throws ProtocolError PROTOCOL_TOO_BIG when it would not fit. */
export function encodeFrame(draft: FrameDraft, speaker: Speaker, now: number): string {
  const envelope: Envelope = {
    header: {
      msg_id: randomUUID(),
      ...(draft.parentId === undefined ? {} : { parent_msg_id: draft.parentId }),
      timestamp: Math.trunc(now),
    },
    route: {
      ...SPEAKERS[speaker],
      operation: draft.operation,
      ...(draft.resource === undefined ? {} : { resource: draft.resource }),
    },
    content: draft.content,
  }
  const text = JSON.stringify(envelope)
  if (Buffer.byteLength(text) > LIMITS.maxFrameBytes) {
    throw new ProtocolError('PROTOCOL_TOO_BIG', `a frame is at most ${LIMITS.maxFrameBytes} bytes`)
  }
  return text
}

/**
 * Reads a frame in two steps, envelope then content.
 * @throws ProtocolError PROTOCOL_TOO_BIG, PROTOCOL_NOT_JSON, PROTOCOL_INVALID; PROTOCOL_UNSUPPORTED for an operation that
 * this version does not know, which is answered `error` and never closes a session.
 */
export function decodeFrame(text: string): Frame {
  if (Buffer.byteLength(text) > LIMITS.maxFrameBytes) {
    throw new ProtocolError('PROTOCOL_TOO_BIG', `a frame is at most ${LIMITS.maxFrameBytes} bytes`)
  }
  const { header, route, content } = validate('Envelope', parseJson(text))
  const name = Object.hasOwn(CONTENT_OF, route.operation) ? CONTENT_OF[route.operation] : undefined
  if (!name) throw new UnsupportedOperation(route.operation, header.msg_id)
  return {
    operation: route.operation,
    resource: route.resource ?? '',
    content: validate(name, content),
    msgId: header.msg_id,
    ...(header.parent_msg_id === undefined ? {} : { parentId: header.parent_msg_id }),
  }
}

/** An operation of a newer version: `msgId` is what the `error UNSUPPORTED` answers. */
export class UnsupportedOperation extends ProtocolError {
  readonly msgId: string

  constructor(operation: string, msgId: string) {
    super('PROTOCOL_UNSUPPORTED', `the operation ${JSON.stringify(operation)} is not known`)
    this.msgId = msgId
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError('PROTOCOL_NOT_JSON', 'a frame is one JSON text')
  }
}
