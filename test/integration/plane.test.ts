import { expect, it } from 'vitest'
import { describePlanes, kubectl } from '../harness/index.ts'

describePlanes('a control plane', (plane) => {
  it.for(plane.kubectls.length > 0 ? plane.kubectls : [undefined])(
    'serves our kinds to stock kubectl %o',
    async (program, { skip }) => {
      if (program === undefined) return skip('no kubectl on this machine')
      const { code, output } = await kubectl(
        plane,
        ['api-resources', '-o', 'name', '--categories', 'upgradehub'],
        { kubectl: program },
      )
      expect(code, output).toBe(0)
      expect(output.split('\n')).toContain('nodeupgradejobs.operations.kubeedge.io')
    },
  )
})
