import { describe, expect, it } from 'vitest'
import type { RegistrySettings } from './settings.ts'
import { isNamed, sourcesOf } from './sources.ts'

const settings = {
  plainHttp: ['mirror.example:5000', 'plain.example'],
  allow: [],
  mirrors: { 'docker.io': ['mirror.example:5000', 'docker.io'] },
}

const basesOf = (registry: string, repository: string, of: RegistrySettings) =>
  sourcesOf({ registry, repository }, of).map(({ base }) => base.href)

describe('who is asked for a repository', () => {
  it('is each mirror that the operator named, in order, by its own scheme', () => {
    expect(basesOf('docker.io', 'team/edge', settings)).toEqual([
      'http://mirror.example:5000/v2/team/edge/',
      'https://registry-1.docker.io/v2/team/edge/',
    ])
  })

  it('is the registry itself otherwise', () => {
    expect(basesOf('plain.example', 'a', settings)).toEqual(['http://plain.example/v2/a/'])
    expect(basesOf('constructor', 'a', settings)).toEqual(['https://constructor/v2/a/'])
  })

  it('is asked for library/ where docker.io keeps its own images', () => {
    const [mirror] = basesOf('docker.io', 'debian', settings)
    expect(mirror).toBe('http://mirror.example:5000/v2/library/debian/')
  })

  it('is nobody for a registry that is not allowed, mirrored or not', () => {
    const closed = { ...settings, allow: ['plain.example'] }
    expect(() => basesOf('docker.io', 'a/b', closed)).toThrow(/not allowed/)
  })
})

describe('a host is named', () => {
  it.each(['mirror.example:5000', 'plain.example', 'docker.io'])('by any setting: %s', (host) => {
    expect(isNamed(host, settings)).toBe(true)
  })

  it('with its port: another port of the same machine is another service', () => {
    expect(isNamed('mirror.example:6443', settings)).toBe(false)
  })
})
