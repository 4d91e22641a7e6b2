import { ConfigError } from '@upgrade-hub/core'
import { describe, expect, it } from 'vitest'
import { loadEdgeConfig, parseEdgeConfig } from './config.ts'

const MINIMAL = `
nodeName: edge-1
hub: { websocket: wss://hub:10000, https: https://hub:10002 }
certificates: { ca: /a, cert: /b, key: /c }
components:
  - name: edgecore
    binary: /usr/local/bin/edgecore
    service: { manager: systemd, unit: edgecore.service }
`

function problemsOf(text: string): readonly string[] {
  try {
    parseEdgeConfig(text)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

describe('the configuration', () => {
  it('that is not there names what writes it', async () => {
    const missing = `${import.meta.filename}.yaml`
    await expect(loadEdgeConfig(missing)).rejects.toThrow(
      `${missing} is not valid:\n  - there is no such file: edgeadm join`,
    )
  })

  it('needs little, and the rest has defaults', () => {
    expect(parseEdgeConfig(MINIMAL)).toMatchObject({
      registerNode: false,
      registry: { plainHttp: [], allow: [] },
      policy: { tools: ['keadm'], images: [] },
      paths: { state: '/var/lib/upgrade-hub', etc: '/etc/kubeedge', run: '/run/upgrade-hub' },
      components: [{ companions: [], versionArgs: ['--version'], stopSeconds: 10, state: {} }],
      detach: 'systemd',
    })
  })

  it('is told all its mistakes at once', () => {
    const bad = MINIMAL.replace('wss:', 'ws:').replace('binary: /', 'binary: ').concat('surprise: 1\n')
    expect(problemsOf(bad)).toEqual([
      expect.stringContaining('/hub/websocket'),
      expect.stringContaining('/components/0/binary'),
      expect.stringContaining('surprise'),
    ])
  })

  it.each(['', '- a', 'a: [', `${MINIMAL}---\na: 1`, `a: &x [1]\nb: *x`, 'x'.repeat(300_000)])(
    'that is no configuration is a ConfigError (%#)',
    (text) => {
      expect(problemsOf(text)).not.toEqual([])
    },
  )

  it('has each component once', () => {
    const [, row] = MINIMAL.split('components:\n')
    expect(problemsOf(`${MINIMAL}${row}`)).toEqual(['/components has edgecore twice'])
  })
})
