import type { Json } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { ageOf } from './age.ts'
import type { Column } from './column.ts'

export const NONE = '<none>'

/** Every table's first column; kubectl finds the name by its format. */
export const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
  cell: (object) => object.metadata.name,
}

const AGE_WORDS =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

export function column(
  name: string,
  description: string,
  cell: (object: KubeObject, now: number) => Json,
): Column {
  return { name, type: 'string', format: '', description, priority: 0, cell }
}

export function age(): Column {
  return column('Age', AGE_WORDS, (object, now) => ageOf(object.metadata.creationTimestamp, now))
}

/** The same column, shown with `-o wide` only. */
export function wide(shown: Column): Column {
  return { ...shown, priority: 1 }
}

export function integer(shown: Column): Column {
  return { ...shown, type: 'integer' }
}
