import { expect, it } from 'vitest'
import { Fleet } from '../harness/fleet.ts'
import { auditOf, describePlanes, startHub, uniqueName, until } from '../harness/index.ts'

describePlanes('a hub with the rights of the manifests', (plane) => {
  const asHub = () => auditOf(plane).filter(({ user }) => user.username === plane.users.hub.user)

  const forbidden = () => asHub().filter(({ responseStatus }) => responseStatus?.code === 403)

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
      expect(forbidden()).toEqual([])
    } finally {
      await program.stop()
    }
  })

  it('runs a job from the enrolment of its edges to the end with them', async () => {
    const fleet = await Fleet.start(plane)
    try {
      const nodeNames = [uniqueName('edge'), uniqueName('edge')]
      await fleet.addEdges(nodeNames)
      const job = uniqueName('job')
      await fleet.createJob(job, { version: 'v1.10.0', nodeNames, concurrency: 2 })
      const { status } = await fleet.finished(job)
      expect(status, await fleet.picture(job)).toMatchObject({ phase: 'Completed', progress: '2/2' })
      expect(forbidden()).toEqual([])
      expect(fleet.hub?.output).not.toContain('KUBE_FORBIDDEN')
    } finally {
      await fleet.stop()
    }
  })
})
