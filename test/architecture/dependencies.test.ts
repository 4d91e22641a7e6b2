import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageOf, ROOT, type Source, siblingOf, type Workspace, workspaces } from './sources.ts'

/** What each package may import of its siblings. Apps join packages, and nothing imports an app but the demo. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  api: ['core'],
  protocol: ['core'],
  rollout: ['core', 'api'],
  kube: ['core'],
  oci: ['core'],
  pki: ['core'],
  observability: ['core'],
  channel: ['core', 'protocol'],
  upgrader: ['core', 'protocol', 'oci'],
  embedded: ['core', 'api'],
  testkit: ['core', 'api', 'protocol', 'channel'],
  cloudhub: ['core', 'api', 'protocol', 'rollout', 'kube', 'channel', 'pki', 'observability', 'embedded'],
  edgehub: ['core', 'protocol', 'channel', 'upgrader', 'pki', 'observability'],
  'kubectl-plugins': ['core', 'api', 'rollout', 'kube'],
  edgeadm: ['core', 'protocol', 'upgrader', 'oci', 'pki', 'observability'],
  'node-package': [],
  demo: ['core', 'api', 'protocol', 'kube', 'embedded', 'pki', 'upgrader', 'observability', 'cloudhub'],
}

/** A dependency that is heavy, or whose place is one package's whole reason. */
const ONLY_IN: Readonly<Record<string, readonly string[]>> = {
  '@kubernetes/client-node': ['kube'],
  ws: ['channel'],
  pino: ['observability'],
  'prom-client': ['observability'],
  'temporal-polyfill': ['rollout'],
  'tar-stream': ['oci', 'demo'],
  '@peculiar/x509': ['pki'],
  '@marcbachmann/cel-js': ['embedded'],
  'node:sqlite': ['embedded', 'upgrader'],
}

/** What decisions may import: time zones and the changes of their clocks are no arithmetic of ours. */
const PURE = ['@upgrade-hub/core', 'temporal-polyfill']

/** Of the root package, for tests beside the source. */
const TEST_TOOLS = Object.keys(
  (
    JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>
    }
  ).devDependencies,
)

const built = workspaces.filter(({ sources }) => sources.length > 0)

function imported(sources: readonly Source[]): { from: string; name: string; isType: boolean }[] {
  return sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier, isType }) => {
      const name = packageOf(specifier)
      return name === undefined ? [] : [{ from: path, name, isType }]
    }),
  )
}

function shipped({ sources }: Workspace): readonly Source[] {
  return sources.filter(({ isTest }) => !isTest)
}

describe('the dependency table', () => {
  it('has a row for every workspace', () => {
    expect(Object.keys(ALLOWED).toSorted()).toEqual(workspaces.map(({ name }) => name).toSorted())
  })

  it.each(built.map((workspace) => [workspace.name, workspace] as const))(
    'holds for %s',
    (name, workspace) => {
      const strangers = shipped(workspace).flatMap(({ path, imports }) =>
        imports
          .map(({ specifier }) => siblingOf(specifier))
          .filter((sibling) => sibling !== undefined && sibling !== name && !ALLOWED[name]?.includes(sibling))
          .map((sibling) => `${path} imports ${sibling}`),
      )
      expect(strangers).toEqual([])
    },
  )

  it.each(built.map((workspace) => [workspace.name, workspace] as const))(
    'of %s is what its package.json declares',
    (name, workspace) => {
      const own = `@upgrade-hub/${name}`
      const used = imported(shipped(workspace)).map((one) => one.name)
      const declarable = [...new Set(used)].filter((used) => !used.startsWith('node:') && used !== own)
      expect(declarable.toSorted()).toEqual(workspace.dependencies.toSorted())
    },
  )

  it.each(built.map((workspace) => [workspace.name, workspace] as const))(
    'of the tests of %s adds test tools and siblings only',
    (_name, workspace) => {
      const tests = workspace.sources.filter(({ isTest }) => isTest)
      const strangers = imported(tests).filter(
        ({ name }) =>
          !name.startsWith('node:') &&
          !name.startsWith('@upgrade-hub/') &&
          !workspace.dependencies.includes(name) &&
          !TEST_TOOLS.includes(name),
      )
      expect(strangers).toEqual([])
    },
  )

  it('gives heavy dependencies one home', () => {
    const strangers = built.flatMap((workspace) =>
      imported(shipped(workspace)).filter(
        ({ name }) => ONLY_IN[name] && !ONLY_IN[name].includes(workspace.name),
      ),
    )
    expect(strangers).toEqual([])
  })

  it('keeps decisions pure: rollout imports no Node module, a calendar, and api for its types only', () => {
    const rollout = built.find(({ name }) => name === 'rollout')
    const impure = imported(rollout ? shipped(rollout) : []).filter(
      ({ name, isType }) => !PURE.includes(name) && !(name === '@upgrade-hub/api' && isType),
    )
    expect(impure).toEqual([])
  })

  it('keeps what only tests may use out of what ships', () => {
    const leaks = built.flatMap((workspace) =>
      shipped(workspace).flatMap(({ path, imports }) =>
        imports
          .filter(({ specifier }) => /\/testing$|\/testing\/|^@upgrade-hub\/testkit|^vitest$/.test(specifier))
          .map(({ specifier }) => `${path} imports ${specifier}`),
      ),
    )
    expect(leaks).toEqual([])
  })
})
