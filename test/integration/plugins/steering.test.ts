import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Fleet } from '../../harness/fleet.ts'
import { describePlanes, uniqueName } from '../../harness/index.ts'
import { PluginUser } from './plugin-user.ts'

const EDGES = ['seen-1', 'seen-2', 'seen-3']

describePlanes('kubectl with the plugins', (plane) => {
  let fleet: Fleet
  beforeAll(async () => {
    fleet = await Fleet.start(plane)
    await fleet.addEdges(EDGES)
  })
  afterAll(() => fleet?.stop())

  describe.for(plane.kubectls.slice(0, 1).map((kubectl) => ({ kubectl, version: 'v1.22.0' })))(
    'of version $kubectl.version',
    ({ kubectl, version }) => {
      const user = new PluginUser(plane, kubectl)
      const name = uniqueName('by-plugin')
      const nodes = EDGES.flatMap((edge) => ['--node', edge])

      it('creates a job, holds it, lets it go on and follows it to its end', {
        timeout: 180_000,
      }, async () => {
        const flags = ['--to-version', version, '--image', fleet.image, '--concurrency', '2', ...nodes]
        const create = ['create', 'nodeupgradejob', name, ...flags]
        expect(await user.ends(0, [...create, '--dry-run=server', '-o', 'name'])).toBe(
          `nodeupgradejob.operations.kubeedge.io/${name}\n`,
        )
        expect(await user.ends(4, ['nodeupgrade', 'status', name])).toContain('PLUGIN_NOT_FOUND')
        expect(await user.ends(0, create)).toBe(`nodeupgradejob.operations.kubeedge.io/${name} created\n`)

        expect(await user.ends(0, ['nodeupgrade', 'pause', `nuj/${name}`])).toBe(
          `nodeupgradejob/${name} paused\n`,
        )
        expect((await fleet.job(name)).control).toEqual({ paused: true })
        const watching = user.start(['nodeupgrade', 'watch', name])
        await watching.says(/ job Paused /)
        expect(await user.ends(3, ['nodeupgrade', 'status', name])).toContain(`${name} to ${version}: Paused`)
        expect(await user.ends(0, ['nodeupgrade', 'resume', name, '--dry-run=client'])).toContain('(dry run)')
        expect((await fleet.job(name)).control).toEqual({ paused: true })
        expect(await user.ends(0, ['nodeupgrade', 'resume', name])).toBe(`nodeupgradejob/${name} resumed\n`)
        expect((await watching.exited).code, watching.output).toBe(0)
        for (const edge of EDGES) {
          expect(watching.output).toMatch(new RegExp(`Z ${edge} InProgress`))
          expect(watching.output).toMatch(new RegExp(`Z ${edge} Successful Upgraded`))
        }
        expect(watching.output).toMatch(/ job Completed 3 of 3 nodes run the version\n$/)

        const table = await user.ends(0, ['nodeupgrade', 'status', name, '-o', 'wide'])
        expect(table).toContain(`${name} to ${version}: Completed`)
        expect(table).toMatch(new RegExp(`seen-2 +Successful .* Upgraded +1 +${version}`))
        expect(await user.ends(0, ['nodeupgrade', 'status'])).toMatch(
          new RegExp(`^${name} +${version} +Completed +3/3 +0 `, 'm'),
        )
        const report = JSON.parse(await user.ends(0, ['nodeupgrade', 'status', name, '-ojson'])) as object
        expect(report).toMatchObject({
          name,
          isOver: true,
          isGood: true,
          counts: { total: 3, successful: 3 },
        })
        expect(await user.ends(5, ['nodeupgrade', 'pause', name])).toContain('is over')
      })
    },
  )

  it.for(plane.kubectls.slice(1))('are found by kubectl $version too', async (kubectl) => {
    const user = new PluginUser(plane, kubectl)
    const flags = ['--to-version', 'v1.22.0', '--node', 'seen-1', '--dry-run=server', '-o', 'name']
    expect(await user.ends(0, ['create', 'nodeupgradejob', 'dry', ...flags])).toContain('/dry')
    expect(await user.ends(0, ['nodeupgrade', 'why', 'seen-1'])).toContain('seen-1')
  })

  describe.for(plane.kubectls.slice(0, 1))('of version $version', (kubectl) => {
    const user = new PluginUser(plane, kubectl)

    it('has every verb', { timeout: 180_000 }, async () => {
      const name = uniqueName('verbs')
      const flags = [
        '--to-version',
        'v1.10.0',
        '--allow-downgrade',
        '--image',
        fleet.image,
        '--node',
        'seen-1',
      ]
      const made = await user.ends(0, [
        'create',
        'nodeupgradejob',
        name,
        ...flags,
        '--dry-run=client',
        '-o',
        'json',
      ])
      // Paused from its first moment: no verb below races with its end.
      const held = { ...(JSON.parse(made) as object), control: { paused: true } }
      await user.ends(0, ['create', '-f', '-'], JSON.stringify(held))
      await user.ends(0, ['nodeupgrade', 'pause', name])
      expect(await user.ends(0, ['nodeupgrade', 'plan', ...flags])).toContain(
        'this job to v1.10.0: 1 of 1 nodes',
      )
      expect(await user.ends(0, ['nodeupgrade', 'plan', '-f', '-'], manifest(fleet.image))).toMatch(
        /^canary +1 +1 /m,
      )
      await user.run(['nodeupgrade', 'watch', name, '--timeout=1s'])
      expect(await user.ends(0, ['nodeupgrade', 'why', 'seen-1'])).toContain(name)
      expect(await user.ends(5, ['nodeupgrade', 'approve', name])).toContain('no wave')
      expect(await user.ends(5, ['nodeupgrade', 'retry', name])).toContain('has failed')
      expect(await user.ends(0, ['nodeupgrade', 'hold', 'seen-2', '--reason', 'new disk'])).toContain(
        'stays cordoned',
      )
      expect((await fleet.node('seen-2')).metadata.annotations?.['upgradehub.io/keep-cordoned']).toBe(
        'new disk',
      )
      expect(await user.ends(0, ['nodeupgrade', 'hold', 'seen-2', '--remove'])).toContain('is left as it was')
      expect(await user.ends(0, ['nodeupgrade', 'history', 'seen-3'])).toMatch(/^(NODE|no attempt)/)
      expect(await user.ends(4, ['nodeupgrade', 'logs', 'seen-3'])).toContain('there is no log')
      const { stdout } = await user.run(['nodeupgrade', 'doctor', '-o', 'json'])
      const found = JSON.parse(stdout) as { about: string; state: string }[]
      expect(found).toContainEqual(expect.objectContaining({ about: 'schema', state: 'ok' }))
      expect(found).toContainEqual(expect.objectContaining({ about: 'hub', state: 'ok' }))
      // Jobs and nodes of other tests are on this control plane too, some of them ill on purpose.
      const ours = found.filter(({ about }) => !/^(job|node) /.test(about))
      expect(ours.filter(({ state }) => state === 'problem' || state === 'unknown')).toEqual([])
      expect(await user.ends(0, ['nodeupgrade', 'cancel', name])).toBe(`nodeupgradejob/${name} cancelled\n`)
      expect(await user.ends(1, ['nodeupgrade', 'watch', name])).toContain('job Cancelled')
      expect(await user.ends(0, ['__complete', 'nodeupgrade', 'cancel', name.slice(0, -1)])).toContain(
        `${name}\tover`,
      )
    })
  })

  it('does for a viewer what a viewer may, and says what is forbidden', async () => {
    const [kubectl] = plane.kubectls
    if (!kubectl) throw new Error('there is no kubectl on this machine')
    const nobody = new PluginUser(plane, kubectl, 'nobody')
    // The embedded API has no RBAC: who has a token may do everything.
    const hasRights = plane.name === 'real'
    expect(await nobody.ends(hasRights ? 5 : 0, ['nodeupgrade', 'status'])).toContain(
      hasRights ? 'KUBE_FORBIDDEN' : 'NAME',
    )
    const admin = new PluginUser(plane, kubectl)
    const as = (...more: string[]) => ['nodeupgrade', 'status', '--as', 'nobody', ...more]
    expect(await admin.ends(hasRights ? 5 : 0, as())).toContain(hasRights ? '"nobody" cannot list' : 'NAME')
    expect(await admin.ends(0, as('--as-group', 'system:masters'))).toContain('NAME')
  })
})

function manifest(image: string): string {
  const waves = [{ name: 'canary', size: 1, approval: 'Required', soakSeconds: 600 }]
  return JSON.stringify({
    apiVersion: 'operations.kubeedge.io/v1alpha1',
    kind: 'NodeUpgradeJob',
    metadata: { name: 'waves' },
    spec: {
      version: 'v1.10.0',
      image,
      nodeNames: EDGES,
      upgradeHub: { waves, versionPolicy: 'AllowDowngrade' },
    },
  })
}
