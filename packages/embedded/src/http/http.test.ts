import { describe, expect, it } from 'vitest'
import { Authenticator } from './authenticator.ts'
import { negotiate } from './negotiate.ts'
import { listOptions, writeOptions } from './options.ts'
import { parseRoute } from './route.ts'

describe('the path of a request', () => {
  it.each([
    ['/api/v1/nodes', { group: '', version: 'v1', plural: 'nodes' }],
    ['/api/v1/nodes/a', { group: '', version: 'v1', plural: 'nodes', name: 'a' }],
    [
      '/api/v1/nodes/a/status',
      { group: '', version: 'v1', plural: 'nodes', name: 'a', subresource: 'status' },
    ],
    ['/api/v1/namespaces', { group: '', version: 'v1', plural: 'namespaces' }],
    ['/api/v1/namespaces/n', { group: '', version: 'v1', plural: 'namespaces', name: 'n' }],
    [
      '/api/v1/namespaces/n/status',
      { group: '', version: 'v1', plural: 'namespaces', name: 'n', subresource: 'status' },
    ],
    [
      '/api/v1/namespaces/n/finalize',
      { group: '', version: 'v1', plural: 'namespaces', name: 'n', subresource: 'finalize' },
    ],
    ['/api/v1/namespaces/n/pods', { group: '', version: 'v1', plural: 'pods', namespace: 'n' }],
    [
      '/api/v1/namespaces/n/pods/p/eviction',
      { group: '', version: 'v1', plural: 'pods', namespace: 'n', name: 'p', subresource: 'eviction' },
    ],
    ['/apis/a.b/v2/things/x%2Fy', { group: 'a.b', version: 'v2', plural: 'things', name: 'x/y' }],
  ])('%s is of %j', (path, route) => {
    expect(parseRoute(path)).toEqual(route)
  })

  it.each([
    '/',
    '/api',
    '/api/v1',
    '/apis/a.b/v2',
    '/api/v1/nodes/a/b/c',
    '/api/v1/nodes//',
    '/api/v1/%zz',
    '/version',
  ])('%s is of no object', (path) => {
    expect(parseRoute(path)).toBeUndefined()
  })
})

describe('what a client accepts', () => {
  it.each([
    [undefined, 'object'],
    ['*/*', 'object'],
    ['application/vnd.kubernetes.protobuf,application/json', 'object'],
    [
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
      'table',
    ],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'metadata'],
    ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'object'],
  ])('%s is given as %s', (header, shape) => {
    expect(negotiate(header).shape).toBe(shape)
  })

  it('is refused where it cannot be given', () => {
    expect(() => negotiate('text/html')).toThrow(expect.objectContaining({ status: 406 }))
  })
})

describe('the query of a request', () => {
  const list = (text: string) => listOptions(new URLSearchParams(text))

  it('of a list is read', () => {
    expect(list('limit=5&resourceVersion=7&labelSelector=a&watch=true')).toMatchObject({
      limit: 5,
      resourceVersion: 7,
      labelSelector: 'a',
      watch: true,
      sendInitialEvents: undefined,
    })
  })

  it.each([
    ['resourceVersion=abc', 400],
    ['limit=x', 400],
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersionMatch=Odd&resourceVersion=1', 422],
    ['watch=1&sendInitialEvents=true', 422],
    ['watch=1&resourceVersionMatch=NotOlderThan', 422],
    ['resourceVersionMatch=Exact&resourceVersion=1&continue=x', 422],
  ])('%s is refused with %d', (text, status) => {
    expect(() => list(text)).toThrow(expect.objectContaining({ status }))
  })

  it('of a write is read, and odd words are refused', () => {
    expect(writeOptions(new URLSearchParams('dryRun=All'), 'CreateOptions')).toEqual({
      dryRun: true,
      fieldValidation: 'Warn',
    })
    for (const text of ['dryRun=Some', 'fieldValidation=Maybe']) {
      expect(() => writeOptions(new URLSearchParams(text), 'CreateOptions')).toThrow(
        expect.objectContaining({ status: 422 }),
      )
    }
  })
})

describe('a bearer token', () => {
  const authenticator = new Authenticator({ secret: { user: 'ann', groups: ['staff'] } })

  it('tells who somebody is', () => {
    expect(authenticator.authenticate('Bearer secret')).toEqual({
      username: 'ann',
      groups: ['staff', 'system:authenticated'],
    })
  })

  it.each([undefined, '', 'secret', 'Bearer ', 'Bearer other', 'Basic secret', 'Bearer secret extra'])(
    'is not %s',
    (header) => {
      expect(() => authenticator.authenticate(header)).toThrow(expect.objectContaining({ status: 401 }))
    },
  )
})
