import type { JsonObject } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { groupVersion, type Resource } from '../registry/resource.ts'
import type { Accepted } from './negotiate.ts'

export interface TableOptions {
  /** What a row carries of its object: `includeObject` of the request. */
  readonly include: 'None' | 'Metadata' | 'Object'
  /** Ms since the epoch. */
  readonly now: number
  readonly headers: boolean
}

function partialMetadata(object: KubeObject): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: object.metadata,
  } as unknown as JsonObject
}

/**
 * Rows for objects in the version of the request; the columns of events read the stored version, so cells are made
 * of that.
 */
function table(
  resource: Resource,
  objects: readonly KubeObject[],
  metadata: JsonObject,
  { version, options }: { readonly version: string; readonly options: TableOptions },
): JsonObject {
  const rows = objects.map((object) => {
    const stored = resource.toStorage(object)
    const cells = resource.columns.map((column) => column.cell(stored, options.now))
    return { cells, object: rowObject(object, options.include) }
  })
  const columnDefinitions = resource.columns.map(({ cell: _cell, ...definition }) => definition)
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: options.headers ? columnDefinitions : null,
    rows,
  } as unknown as JsonObject
}

function rowObject(object: KubeObject, include: TableOptions['include']): unknown {
  if (include === 'None') return null
  return include === 'Object' ? object : partialMetadata(object)
}

/** One object in the shape that was asked for. */
export function renderObject(
  resource: Resource,
  object: KubeObject,
  { shape, version }: Accepted,
  options: TableOptions,
): JsonObject {
  if (shape === 'metadata') return partialMetadata(object)
  if (shape === 'object') return object
  const metadata = { resourceVersion: object.metadata.resourceVersion ?? '' }
  return table(resource, [object], metadata, { version, options })
}

/** A bookmark in the shape that was asked for: a table has one empty row for it. */
export function renderMark(resource: Resource, mark: KubeObject, { shape, version }: Accepted): JsonObject {
  if (shape === 'object') return mark
  if (shape === 'metadata') return partialMetadata(mark)
  const cells = resource.columns.map((_, i) => (i === 0 ? '' : null))
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: { resourceVersion: mark.metadata.resourceVersion ?? '' },
    columnDefinitions: null,
    rows: [{ cells, object: partialMetadata(mark) }],
  }
}

export interface ListMeta {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** A list in the shape that was asked for. Items of built-in kinds do not repeat their type. */
export function renderList(
  resource: Resource,
  list: { readonly items: readonly KubeObject[]; readonly metadata: ListMeta },
  { shape, version }: Accepted,
  options: TableOptions,
): JsonObject {
  const metadata = list.metadata as unknown as JsonObject
  if (shape === 'table') return table(resource, list.items, metadata, { version, options })
  if (shape === 'metadata') {
    const items = list.items.map(partialMetadata)
    return { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items }
  }
  if (!resource.custom) return listOf(resource, list.items.map(untyped), metadata)
  return listOf(resource, list.items, { continue: '', ...metadata })
}

function listOf(resource: Resource, items: readonly JsonObject[], metadata: JsonObject): JsonObject {
  return { kind: resource.listKind, apiVersion: groupVersion(resource), metadata, items }
}

function untyped({ kind: _kind, apiVersion: _apiVersion, ...rest }: KubeObject): JsonObject {
  return rest as unknown as JsonObject
}
