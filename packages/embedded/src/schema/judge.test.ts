import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { SchemaError } from './errors.ts'
import { compileCrd, defaultCrd, judge, validateCrd } from './index.ts'
import type { Crd, JsonObject, JsonSchema } from './types.ts'

const manifests = new URL('../../../../manifests/crds/', import.meta.url)
const read = (name: string) => parse(readFileSync(fileURLToPath(new URL(name, manifests)), 'utf8')) as Crd
const JOBS = read('nodeupgradejobs.operations.kubeedge.io.yaml')
const TASKS = read('nodeupgradetasks.upgradehub.io.yaml')

const job = (spec: JsonObject | undefined, rest: JsonObject = {}): JsonObject => ({
  apiVersion: 'operations.kubeedge.io/v1alpha2',
  kind: 'NodeUpgradeJob',
  metadata: { name: 'job' },
  ...(spec === undefined ? {} : { spec }),
  ...rest,
})

function sentences(object: JsonObject, oldObject?: JsonObject): string[] {
  return judge({ crd: JOBS, version: 'v1alpha2', object, oldObject }).map((c) => `${c.field}: ${c.message}`)
}

describe('judge', () => {
  const good = { version: 'v1.12.0', nodeNames: ['edge-1'] }

  it("gives KubeEdge's sentences for bad jobs", () => {
    expect(
      sentences(job({ version: 'latest', nodeNames: ['a'], labelSelector: { matchLabels: { a: 'b' } } })),
    ).toEqual([
      'spec.version: Invalid value: invalid version latest',
      'spec.nodeNames: Invalid value: both NodeNames and LabelSelector are specified',
    ])
    expect(sentences(job(undefined))).toEqual([
      'spec: Required value: both NodeNames and LabelSelector are NOT specified',
    ])
  })

  it('accepts a good job and any spec that has not changed', () => {
    expect(sentences(job(good))).toEqual([])
    const stored = job({ image: 'bad image', version: 'x', concurrency: -1 })
    expect(sentences({ ...stored, metadata: { name: 'job', labels: { a: 'b' } } }, stored)).toEqual([])
  })

  it('refuses any change of spec, however small, and its removal', () => {
    const sentence = "spec: Forbidden: spec fields are not allowed to update once it's created"
    expect(sentences(job({ ...good, concurrency: 2 }), job(good))).toEqual([sentence])
    expect(sentences(job(undefined), job(good))).toEqual([sentence])
    expect(sentences(job(good), job(undefined))).toContain(sentence)
  })

  it('does not run rules on an object of the wrong shape, and says so', () => {
    expect(sentences(job({ ...good, concurrency: 'many' }))).toEqual([
      'spec.concurrency: Invalid value: "string": spec.concurrency in body must be of type integer: "string"',
      expect.stringContaining('some validation rules were not checked'),
    ])
  })

  it('knows only the versions of the definition', () => {
    expect(() => judge({ crd: JOBS, version: 'v9', object: {} })).toThrow(SchemaError)
  })
})

describe('ratcheting', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: { type: 'string', maxLength: 2 },
          b: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 5', message: 'small' }] },
          keyed: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k'],
            items: {
              type: 'object',
              required: ['k'],
              properties: { k: { type: 'string' }, v: { type: 'integer', maximum: 5 } },
            },
          },
          plain: { type: 'array', items: { type: 'integer', maximum: 5 } },
        },
      },
    },
  }
  const crd = defaultCrd({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  const compiled = compileCrd(crd, 'v1')
  const fields = (spec: JsonObject, old: JsonObject) =>
    compiled.validate({ spec }, { spec: old }).map((c) => c.field)

  it('tolerates what was invalid before and has not changed', () => {
    expect(fields({ a: 'long', b: 9, plain: [1] }, { a: 'long', b: 9 })).toEqual([])
  })

  it('does not tolerate a change from one invalid value to another', () => {
    expect(fields({ a: 'longer', b: 9 }, { a: 'long', b: 9 })).toEqual(['spec.a', '<nil>'])
    expect(fields({ b: 8 }, { b: 9 })).toEqual(['spec.b'])
  })

  it('follows the items of a map list by their keys, and no other list', () => {
    expect(
      fields(
        {
          keyed: [
            { k: 'y', v: 1 },
            { k: 'x', v: 9 },
          ],
        },
        { keyed: [{ k: 'x', v: 9 }] },
      ),
    ).toEqual([])
    expect(fields({ keyed: [{ k: 'z', v: 9 }] }, { keyed: [{ k: 'x', v: 9 }] })).toEqual(['spec.keyed[0].v'])
    expect(fields({ plain: [9, 1] }, { plain: [9] })).toEqual(['spec.plain[0]'])
    expect(fields({ plain: [9] }, { plain: [9] })).toEqual([])
  })

  it('holds an update of status against the status alone', () => {
    const required = compileCrd(
      {
        ...crd,
        spec: {
          ...crd.spec,
          versions: crd.spec.versions.map((v) => ({
            ...v,
            schema: { openAPIV3Schema: { ...schema, required: ['spec'] } },
          })),
        },
      },
      'v1',
    )
    expect(required.validate({}, {}).map((c) => c.field)).toEqual([])
    expect(required.validate({ metadata: {} }, {}).map((c) => c.field)).toEqual(['spec', '<nil>'])
    expect(required.validate({ metadata: {} }, {}, 'status')).toEqual([])
  })
})

describe('validate', () => {
  it('runs no rules on an object whose metadata is broken', () => {
    const compiled = compileCrd(JOBS, 'v1alpha2')
    const before = [
      { reason: 'FieldValueRequired', field: 'metadata.name', message: 'Required value' },
    ] as const
    const causes = compiled.validate(job({ version: 'x', nodeNames: ['a'] }), undefined, undefined, before)
    expect(causes.map((c) => c.field)).toEqual(['<nil>'])
  })
})

describe('the rules of tasks', () => {
  const compiled = compileCrd(TASKS, 'v1alpha1')
  const edge = (seq: number, rest: JsonObject = {}): JsonObject => ({ attempt: 1, seq, ...rest })
  const status = (value: JsonObject): JsonObject => ({
    status: { phase: 'InProgress', attempt: 1, ...value },
  })
  const stale = (after: JsonObject, before: JsonObject) =>
    compiled
      .validate(status(after), status(before), 'status')
      .filter((c) => c.message.startsWith('Forbidden: Stale:'))

  it('never let the edge go back', () => {
    expect(stale({ edge: edge(4) }, { edge: edge(5) })).toHaveLength(1)
    expect(stale({ edge: edge(1, { attempt: 2 }) }, { edge: edge(5) })).toEqual([])
    expect(stale({}, { edge: edge(5) })).toHaveLength(1)
  })

  it('never let an end change, but for an unknown one', () => {
    expect(stale({ phase: 'Failure' }, { phase: 'Successful' })).toHaveLength(1)
    expect(stale({ phase: 'Successful' }, { phase: 'Unknown' })).toEqual([])
    expect(stale({ phase: 'Pending', attempt: 2 }, { phase: 'Failure' })).toEqual([])
  })
})

describe('our definitions', () => {
  it.each(
    [JOBS, TASKS, read('edgeidentities.upgradehub.io.yaml')].map((crd) => [crd.metadata.name, crd] as const),
  )('%s is accepted', (_, crd) => {
    expect(validateCrd(defaultCrd(crd))).toEqual([])
  })

  it('read the fields that tasks are selected by', () => {
    const task = { spec: { jobName: 'j', nodeName: 'n' }, status: { phase: 'Pending' } }
    expect(compileCrd(TASKS, 'v1alpha1').selectable(task)).toEqual({
      'spec.jobName': 'j',
      'spec.nodeName': 'n',
      'status.phase': 'Pending',
      'status.active': '',
    })
  })
})
