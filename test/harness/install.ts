import { join } from 'node:path'
import { MANIFESTS, type Manifest, render } from '../manifests/render.ts'
import { call } from './http.ts'
import { kubectl, type Plane } from './plane.ts'
import { until } from './until.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface Definition {
  readonly spec?: {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: readonly { readonly name: string }[]
  }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/**
 * What an administrator does once: the namespace, our kinds, and where there is RBAC the hub's rights. Without kubectl,
 * which a machine with the embedded API alone may lack.
 */
export async function install(plane: Plane): Promise<void> {
  const manifests = render()
  const definitions = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition')
  const namespaces = manifests.filter(({ kind }) => kind === 'Namespace')
  for (const namespace of namespaces) await create(plane, '/api/v1/namespaces', namespace)
  for (const definition of definitions) await create(plane, CRDS, definition)
  for (const { metadata } of definitions)
    await until(`${metadata.name} is served`, () => isServed(plane, metadata.name))
  if (plane.name === 'real') await applyRights(plane)
}

async function create(plane: Plane, path: string, manifest: Manifest): Promise<void> {
  const { status, body } = await call(plane, 'POST', path, { body: manifest })
  if (status !== 201)
    throw new Error(`${plane.name} refused ${manifest.metadata.name}: ${JSON.stringify(body)}`)
}

async function applyRights(plane: Plane): Promise<void> {
  const { code, output } = await kubectl(plane, ['apply', '-k', join(MANIFESTS, 'rbac')])
  if (code !== 0) throw new Error(`the hub's rights were refused: ${output}`)
}

/** Established, and its store answers: a real API server says 429 for a moment while it makes it. */
async function isServed(plane: Plane, name: string): Promise<boolean> {
  const { body } = await call(plane, 'GET', `${CRDS}/${name}`)
  const { spec, status } = body as Definition
  const established = status?.conditions?.some(
    ({ type, status: is }) => type === 'Established' && is === 'True',
  )
  if (!established || !spec) return false
  const lists = spec.versions.map(
    ({ name: version }) => `/apis/${spec.group}/${version}/${spec.names.plural}`,
  )
  const answers = await Promise.all(lists.map((path) => call(plane, 'GET', path)))
  return answers.every(({ status: code }) => code === 200)
}
