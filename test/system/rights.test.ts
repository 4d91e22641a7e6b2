import { expect, it } from 'vitest'
import { auditOf, describePlanes, startHub, until } from '../harness/index.ts'

describePlanes('a hub with the rights of the manifests', (plane) => {
  const asHub = () => auditOf(plane).filter(({ user }) => user.username === plane.users.hub.user)

  it('starts all of its roles, leads, and asks for nothing that it may not do', async () => {
    const { program } = await startHub(plane)
    try {
      const leads = await until('the hub leads', () =>
        asHub().find(({ requestURI }) => requestURI.includes('/leases')),
      )
      expect(leads.responseStatus?.code).toBeLessThan(500)
      const watched = [
        'nodes',
        'nodeupgradejobs',
        'nodeupgradetasks',
        'edgeidentities',
        'customresourcedefinitions',
      ]
      for (const kind of watched) {
        const isWatch = ({ verb, requestURI }: { verb: string; requestURI: string }) =>
          verb === 'watch' && requestURI.includes(`/${kind}?`)
        expect(await until(`the hub watches ${kind}`, () => asHub().some(isWatch)), kind).toBe(true)
      }
      expect(asHub().filter(({ responseStatus }) => responseStatus?.code === 403)).toEqual([])
    } finally {
      await program.stop()
    }
  })
})
