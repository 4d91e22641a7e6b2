import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { call } from './http.ts'
import type { Plane } from './plane.ts'
import { until } from './until.ts'

const FOLDER = new URL('../../manifests/crds/', import.meta.url)
const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface Definition {
  readonly metadata: { readonly name: string }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Installs the project's kinds without kubectl, which a machine may not have, and waits until they are served. */
export async function installCrds(plane: Plane): Promise<void> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
  const definitions = files.map(
    (name) => parse(readFileSync(fileURLToPath(new URL(name, FOLDER)), 'utf8')) as Definition,
  )
  for (const definition of definitions) {
    const { status, body } = await call(plane, 'POST', PATH, { body: definition })
    if (status !== 201)
      throw new Error(`${definition.metadata.name} was refused on ${plane.name}: ${JSON.stringify(body)}`)
  }
  for (const { metadata } of definitions)
    await until(`${metadata.name} is served`, () => isServed(plane, metadata.name))
}

async function isServed(plane: Plane, name: string): Promise<boolean> {
  const { body } = await call(plane, 'GET', `${PATH}/${name}`)
  const conditions = (body as Definition).status?.conditions ?? []
  return conditions.some(({ type, status }) => type === 'Established' && status === 'True')
}
