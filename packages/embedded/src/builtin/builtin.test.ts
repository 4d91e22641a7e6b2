import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeTyped } from './decode.ts'
import { kindSchema, metaSchema } from './definitions.ts'
import { BUILTIN_RESOURCES } from './kinds.ts'
import { decodeProtobuf } from './protobuf.ts'

const POD = kindSchema('io.k8s.api.core.v1.Pod')
const NODE = kindSchema('io.k8s.api.core.v1.Node')

describe('the typed decoder', () => {
  it('drops what it does not know and says where it was', () => {
    const pod = { spec: { containers: [{ name: 'a', odd: 1 }], odd: 2 }, odd: 3 }
    expect(decodeTyped(pod, POD)).toEqual({
      object: { spec: { containers: [{ name: 'a' }] } },
      unknown: ['spec.containers[0].odd', 'spec.odd', 'odd'],
    })
  })

  it('leaves out nulls and zeros, but not the zeros of what Go points to', () => {
    const pod = {
      metadata: { labels: {}, generateName: '', deletionGracePeriodSeconds: 0 },
      spec: {
        hostNetwork: false,
        nodeName: '',
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        nodeSelector: null,
        containers: [],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    }
    expect(decodeTyped(pod, POD).object).toEqual({
      metadata: { deletionGracePeriodSeconds: 0 },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    })
  })

  it.each([
    [
      { spec: { unschedulable: 'yes' } },
      'json: cannot unmarshal string into Go struct field NodeSpec.spec.unschedulable of type bool',
    ],
    [{ spec: [] }, 'json: cannot unmarshal array into Go struct field Node.spec of type v1.NodeSpec'],
    [
      { spec: { taints: [{ key: 1 }] } },
      'json: cannot unmarshal number into Go struct field Taint.spec.taints.key of type string',
    ],
    [
      { spec: { podCIDRs: 'x' } },
      'json: cannot unmarshal string into Go struct field NodeSpec.spec.podCIDRs of type []string',
    ],
  ])('refuses %j', (node, message) => {
    expect(() => decodeTyped(node, NODE)).toThrow(message)
  })

  it('keeps a quantity as text, an int-or-string as it is, and free JSON untouched', () => {
    const service = kindSchema('io.k8s.api.core.v1.ServiceSpec')
    expect(
      decodeTyped(
        {
          ports: [
            { port: 1, targetPort: 'http' },
            { port: 2, targetPort: 3 },
          ],
        },
        service,
      ).object,
    ).toEqual({
      ports: [
        { port: 1, targetPort: 'http' },
        { port: 2, targetPort: 3 },
      ],
    })
    const status = decodeTyped({ status: { capacity: { cpu: 2, memory: '1Gi' } } }, NODE).object
    expect(status).toEqual({ status: { capacity: { cpu: '2', memory: '1Gi' } } })
    const meta = { managedFields: [{ fieldsV1: { 'f:x': { '.': {} } }, manager: 'm' }] }
    expect(decodeTyped(meta, metaSchema('ObjectMeta')).object).toEqual(meta)
  })

  it('wants six digits in a MicroTime, and a time in a Time', () => {
    const lease = kindSchema('io.k8s.api.coordination.v1.LeaseSpec')
    expect(() => decodeTyped({ renewTime: '2026-01-01T00:00:00Z' }, lease)).toThrow(
      'cannot parse "Z" as ".000000"',
    )
    expect(decodeTyped({ renewTime: '2026-01-01T00:00:00.123456Z' }, lease).unknown).toEqual([])
    expect(() => decodeTyped({ creationTimestamp: 'now' }, metaSchema('ObjectMeta'))).toThrow(
      'parsing time "now"',
    )
  })
})

/** A field of the wire format: number, then bytes or a number. */
function field(number: number, value: Buffer | string | number | Buffer[]): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint(number << 3), varint(value)])
  const bytes = Array.isArray(value) ? Buffer.concat(value) : Buffer.from(value)
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes = []
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...bytes, Number(rest)])
    bytes.push(Number(rest & 0x7fn) | 0x80)
  }
}

function envelope(apiVersion: string, kind: string, message: Buffer[]): Buffer {
  const type = field(1, [field(1, apiVersion), field(2, kind)])
  return Buffer.concat([Buffer.from('k8s\0'), type, field(2, message)])
}

describe('the protobuf decoder', () => {
  it('reads an object as Go writes it, without the zeros that nobody set', () => {
    const meta = field(1, [
      field(1, 'c'),
      field(2, ''),
      field(3, 'default'),
      field(7, 0),
      field(11, [field(1, 'k'), field(2, 'v')]),
    ])
    const data = field(2, [field(1, 'a'), field(2, 'b')])
    expect(decodeProtobuf(envelope('v1', 'ConfigMap', [meta, data]), 'io.k8s.api.core.v1.ConfigMap')).toEqual(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'c', namespace: 'default', labels: { k: 'v' } },
        data: { a: 'b' },
      },
    )
  })

  it('keeps a zero that was meant, and reads times, bytes and unions', () => {
    const options = [field(1, 0), field(4, 'Foreground')]
    expect(
      decodeProtobuf(
        envelope('v1', 'DeleteOptions', options),
        'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
      ),
    ).toMatchObject({
      gracePeriodSeconds: 0,
      propagationPolicy: 'Foreground',
    })
    const lease = [
      field(2, [field(1, 'me'), field(2, 15), field(4, [field(1, 1_767_225_600), field(2, 123_456_000)])]),
    ]
    expect(
      decodeProtobuf(envelope('coordination.k8s.io/v1', 'Lease', lease), 'io.k8s.api.coordination.v1.Lease')[
        'spec'
      ],
    ).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      renewTime: '2026-01-01T00:00:00.123456Z',
    })
    const secret = [field(2, [field(1, 'k'), field(2, Buffer.from([0, 255]))])]
    expect(decodeProtobuf(envelope('v1', 'Secret', secret), 'io.k8s.api.core.v1.Secret')['data']).toEqual({
      k: 'AP8=',
    })
    const ports = [
      field(2, [field(1, [field(3, 80), field(4, [field(1, 1), field(2, 0), field(3, 'http')])])]),
    ]
    expect(decodeProtobuf(envelope('v1', 'Service', ports), 'io.k8s.api.core.v1.Service')['spec']).toEqual({
      ports: [{ port: 80, targetPort: 'http' }],
    })
  })

  it('reads what lies in its parent', () => {
    const volume = field(1, [field(1, 'v'), field(2, [field(2, [])])])
    const pod = decodeProtobuf(envelope('v1', 'Pod', [field(2, [volume])]), 'io.k8s.api.core.v1.Pod')
    expect(pod['spec']).toEqual({ volumes: [{ name: 'v', emptyDir: {} }] })
  })

  it('refuses any other bytes with one error', () => {
    expect(() => decodeProtobuf(Buffer.from('{}'), 'io.k8s.api.core.v1.Pod')).toThrow('protobuf')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const body = Buffer.concat([Buffer.from('k8s\0'), bytes])
        try {
          decodeProtobuf(body, 'io.k8s.api.core.v1.Pod')
        } catch (error) {
          expect(error).toMatchObject({ code: 'EMBEDDED_PROTOBUF' })
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('built-in kinds', () => {
  it.each(BUILTIN_RESOURCES.map((resource) => [resource.storage, resource] as const))(
    '%s has a definition, columns, and shows in storage what it takes',
    (_name, resource) => {
      expect(Object.keys(resource.schema)).toContain('properties')
      expect(resource.columns[0]).toBeDefined()
      const { object } = resource.decode({ metadata: { name: 'a' } })
      expect(resource.fromStorage(resource.toStorage(object))).toEqual(object)
    },
  )
})
