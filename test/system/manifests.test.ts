import { afterAll, beforeAll, expect, it } from 'vitest'
import { findBinaries } from '../controlplane/binaries.ts'
import { describePlanes, kubectl, type OwnedPlane, startRealPlane } from '../harness/index.ts'
import { MANIFESTS } from '../manifests/render.ts'

/** Verb, resource and arguments that no hub may ever do: each is a step to another one's rights or to other people's data. */
const FORBIDDEN: readonly (readonly string[])[] = [
  ['create', 'pods'],
  ['create', 'pods', '--subresource=exec'],
  ['delete', 'pods'],
  ['get', 'secrets'],
  ['list', 'secrets', '-A'],
  ['get', 'secrets', '-n', 'kube-system'],
  ['list', 'secrets', '-n', 'upgrade-hub'],
  ['delete', 'secrets', '-n', 'upgrade-hub'],
  ['create', 'serviceaccounts', '--subresource=token'],
  ['impersonate', 'users'],
  ['escalate', 'clusterroles'],
  ['bind', 'clusterroles'],
  ['create', 'clusterrolebindings'],
  ['delete', 'nodes'],
  ['get', 'nodes', '--subresource=proxy'],
  ['patch', 'validatingwebhookconfigurations/other'],
  ['create', 'validatingwebhookconfigurations'],
  ['delete', 'validatingwebhookconfigurations/upgrade-hub'],
  ['patch', 'customresourcedefinitions'],
  ['create', 'nodeupgradejobs'],
  ['delete', 'nodeupgradetasks'],
  ['list', 'customresourcedefinitions'],
  ['update', 'leases/other', '-n', 'upgrade-hub'],
  ['update', 'nodeupgradejobs'],
  ['get', 'configmaps', '-A'],
  ['patch', 'leases', '-n', 'kube-system'],
  ['create', 'events.events.k8s.io', '-n', 'kube-system'],
]

const ALLOWED: readonly (readonly string[])[] = [
  ['patch', 'nodes'],
  ['patch', 'nodes', '--subresource=status'],
  ['patch', 'nodeupgradejobs'],
  ['delete', 'nodeupgradejobs'],
  ['create', 'pods', '--subresource=eviction'],
  ['patch', 'nodeupgradejobs', '--subresource=status'],
  ['update', 'nodeupgradejobs', '--subresource=finalizers'],
  ['create', 'nodeupgradetasks'],
  ['create', 'secrets', '-n', 'upgrade-hub'],
  ['create', 'leases', '-n', 'upgrade-hub'],
  ['update', 'leases/upgrade-hub-controllers', '-n', 'upgrade-hub'],
  ['list', 'leases', '-n', 'kube-node-lease'],
  ['patch', 'leases', '-n', 'kube-node-lease'],
  ['create', 'events.events.k8s.io', '-n', 'default'],
  ['patch', 'validatingwebhookconfigurations/upgrade-hub'],
]

describePlanes('the manifests in a cluster', () => {
  // A plane of its own: the webhooks that are installed here have nobody to answer them.
  let plane: OwnedPlane
  beforeAll(async () => {
    const binaries = findBinaries(process.env)
    if ('absent' in binaries) throw new Error(binaries.reason)
    plane = await startRealPlane({ binaries })
  })
  afterAll(() => plane?.stop())

  const canI = async (who: 'hub' | 'viewer', args: readonly string[]) =>
    (await kubectl(plane, ['auth', 'can-i', ...args], { as: who })).stdout.trim()

  it('are accepted, and accepted again when they are there', async () => {
    for (const _time of ['first', 'second']) {
      const { code, output } = await kubectl(plane, ['apply', '-k', MANIFESTS, '--validate=strict'])
      expect(code, output).toBe(0)
    }
  })

  it.each(FORBIDDEN.map((args) => [args.join(' '), args] as const))(
    'do not let the hub %s',
    async (_title, args) => {
      expect(await canI('hub', args)).toMatch(/^no/)
    },
  )

  it.each(ALLOWED.map((args) => [args.join(' '), args] as const))('let the hub %s', async (_title, args) => {
    expect(await canI('hub', args)).toBe('yes')
  })

  it('let a viewer see jobs and change none', async () => {
    await kubectl(plane, [
      'create',
      'clusterrolebinding',
      'viewer',
      '--clusterrole=upgradehub-viewer',
      '--user=viewer',
    ])
    expect(await canI('viewer', ['list', 'nodeupgradejobs'])).toBe('yes')
    for (const verb of ['create', 'patch', 'delete', 'approve']) {
      expect(await canI('viewer', [verb, 'nodeupgradejobs']), verb).toMatch(/^no/)
    }
  })

  it('refuse jobs, in the name of the project, while no hub answers, and nothing else', async () => {
    const job = {
      apiVersion: 'operations.kubeedge.io/v1alpha2',
      kind: 'NodeUpgradeJob',
      metadata: { name: 'unanswered' },
      spec: { version: 'v1.20.0', nodeNames: ['edge-1'] },
    }
    const refused = await kubectl(plane, ['create', '-f', '-'], { input: JSON.stringify(job) })
    expect(refused.code).not.toBe(0)
    expect(refused.output).toContain('nodeupgradejobs.validating.upgradehub.io')
    const namespace = await kubectl(plane, ['create', 'namespace', 'unrelated'])
    expect(namespace.code, namespace.output).toBe(0)
  })
})
