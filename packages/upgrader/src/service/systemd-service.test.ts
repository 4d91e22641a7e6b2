import { describe, expect, it } from 'vitest'
import { unitArgs } from '../launch.ts'
import { stateOf, unitProblem } from './systemd-service.ts'

const SHOW = `LoadState=loaded
ActiveState=active
SubState=running
Job=
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
    ['activating', 'start', '', { running: false, starting: true }],
    ['failed', 'failed', '', { running: false, starting: false }],
    ['inactive', 'dead', '', { running: false, starting: false }],
    ['inactive', 'dead', '7', { running: false, starting: true }],
    ['activating', 'auto-restart', '', { running: false, starting: false }],
    ['active', 'exited', '', { running: false, starting: false }],
    ['active', 'running', '7', { running: true, starting: false }],
  ])('as %s (%s) with the job "%s" is what health goes by', (active, sub, job, expected) => {
    const show = SHOW.replace('=active', `=${active}`).replace('=running', `=${sub}`)
    expect(stateOf(show.replace('Job=', `Job=${job}`))).toMatchObject(expected)
  })

  /** F24 */
  it('says what is wrong with a unit before anything is stopped', () => {
    expect(unitProblem(SHOW, 'e.service', ['/usr/local/bin/edgecore'])).toBeUndefined()
    expect(unitProblem(SHOW, 'e.service', ['/opt/edgecore'])).toBe(
      'unit e.service does not start /opt/edgecore',
    )
    const shown = SHOW.replaceAll('=/usr/local/bin/edgecore', '=/opt/node').replace(
      ' --config',
      ' /opt/e.cjs --config',
    )
    expect(unitProblem(shown, 'e.service', ['/opt/node', '/opt/e.cjs'])).toBeUndefined()
    expect(unitProblem(shown, 'e.service', ['/opt/node', '/opt/f.cjs'])).toContain('does not start')
    expect(unitProblem('LoadState=masked\n', 'e.service', ['/x'])).toBe('unit e.service is masked')
    expect(unitProblem('LoadState=not-found\n', 'e.service', ['/x'])).toBe('unit e.service is not-found')
  })
})

describe('the unit of an updater', () => {
  it('has a name of its own for each attempt, survives its parent, and inherits nothing', () => {
    const argv = ['/usr/bin/node', 'main.js', 'attempt', 'run']
    const args = unitArgs({ id: 'a.job.2', argv, env: {}, sandbox: ['ReadWritePaths="-/a%%b"'] })
    expect(args[0]).toMatch(/^--unit=upgrade-hub-[0-9a-f]{16}-2$/)
    expect(args).toContain('--property=KillMode=process')
    expect(args).toContain('--property=ReadWritePaths="-/a%b"')
    expect(args.slice(args.indexOf('--') + 1)).toEqual(argv)
    expect(args.filter((arg) => arg.startsWith('--setenv'))).toEqual([
      '--setenv=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      '--setenv=LANG=C.UTF-8',
    ])
  })
})
