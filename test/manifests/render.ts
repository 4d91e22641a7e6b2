import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'

export const MANIFESTS = fileURLToPath(new URL('../../manifests', import.meta.url))

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Record<string, string>
  }
  readonly [key: string]: unknown
}

/**
 * What `kubectl apply -k` would send, without kubectl: our kustomizations list resources and transform nothing, which
 * this holds to.
 */
export function render(folder = MANIFESTS): Manifest[] {
  const { resources, apiVersion: _, kind: __, ...rest } = readKustomization(folder)
  if (Object.keys(rest).length > 0)
    throw new Error(`${folder} does more than list: ${Object.keys(rest).join(', ')}`)
  return resources
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? render(path) : read(path)))
}

function readKustomization(folder: string): { resources: string[]; [key: string]: unknown } {
  return parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as { resources: string[] }
}

function read(path: string): Manifest[] {
  const documents = parseAllDocuments(readFileSync(path, 'utf8'))
  if ('empty' in documents) return []
  return documents.map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0]?.message}`)
    return document.toJS() as Manifest
  })
}

export function named(
  manifests: readonly Manifest[],
  kind: string,
  name: string,
  namespace?: string,
): Manifest {
  const found = manifests.filter(
    (one) => one.kind === kind && one.metadata.name === name && one.metadata.namespace === namespace,
  )
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`${found.length} of ${kind} ${namespace ?? ''}/${name}`)
  return found[0]
}
