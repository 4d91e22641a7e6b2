import type { JsonObject } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import type { ListMeta, TableOptions } from './render.ts'

/** What a verb answers, before it is shaped: one object, a list of them, or a body that is sent as it is. */
export type Reply =
  | { readonly status: number; readonly object: KubeObject }
  | { readonly status: number; readonly items: readonly KubeObject[]; readonly metadata: ListMeta }
  | { readonly status: number; readonly plain: JsonObject }

/** `includeObject` of a request for a table. */
export function includeOf(query: URLSearchParams): TableOptions['include'] {
  const include = query.get('includeObject')
  return include === 'None' || include === 'Object' ? include : 'Metadata'
}
