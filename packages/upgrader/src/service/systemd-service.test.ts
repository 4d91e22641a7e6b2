import { describe, expect, it } from 'vitest'
import { unitArgs } from '../launch.ts'
import { stateOf, unitProblem } from './systemd-service.ts'

const SHOW = `LoadState=loaded
ActiveState=active
MainPID=42
NRestarts=1
ExecMainStartTimestampMonotonic=9000
ExecStart={ path=/usr/local/bin/edgecore ; argv[]=/usr/local/bin/edgecore --config=/x ; status=0/0 }
`

describe('what systemctl shows', () => {
  it('is the state of the agent, and a restart changes its identity', () => {
    expect(stateOf(SHOW)).toEqual({ running: true, starting: false, identity: '42:9000:1' })
    expect(stateOf(SHOW.replace('NRestarts=1', 'NRestarts=2')).identity).not.toBe(stateOf(SHOW).identity)
  })

  it.each([
    ['activating', { running: false, starting: true }],
    ['failed', { running: false, starting: false }],
  ])('as %s is not running', (state, expected) => {
    expect(stateOf(SHOW.replace('=active', `=${state}`))).toMatchObject(expected)
  })

  /** F24 */
  it('says what is wrong with a unit before anything is stopped', () => {
    expect(unitProblem(SHOW, 'e.service', '/usr/local/bin/edgecore')).toBeUndefined()
    expect(unitProblem(SHOW, 'e.service', '/opt/edgecore')).toBe(
      'unit e.service does not start /opt/edgecore',
    )
    expect(unitProblem('LoadState=masked\n', 'e.service', '/x')).toBe('unit e.service is masked')
    expect(unitProblem('LoadState=not-found\n', 'e.service', '/x')).toBe('unit e.service is not-found')
  })
})

describe('the unit of an updater', () => {
  it('has a name of its own for each attempt, survives its parent, and inherits nothing', () => {
    const args = unitArgs('a.job.2', ['/usr/bin/node', 'main.js', 'attempt', 'run'], {})
    expect(args[0]).toMatch(/^--unit=upgrade-hub-[0-9a-f]{16}-2$/)
    expect(args).toContain('--property=KillMode=process')
    expect(args.slice(args.indexOf('--') + 1)).toEqual(['/usr/bin/node', 'main.js', 'attempt', 'run'])
    expect(args.filter((arg) => arg.startsWith('--setenv'))).toEqual([
      '--setenv=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      '--setenv=LANG=C.UTF-8',
    ])
  })
})
