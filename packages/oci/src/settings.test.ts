import { describe, expect, it } from 'vitest'
import { registryUrl } from './settings.ts'

const settings = {
  plainHttp: ['mirror.example:5000', 'plain.example'],
  allow: [],
  mirrors: { 'docker.io': 'mirror.example:5000' },
}

describe('where a registry is asked', () => {
  it('is the mirror that the operator named, by the scheme of the mirror', () => {
    expect(registryUrl('docker.io', settings).href).toBe('http://mirror.example:5000/')
  })

  it('is the registry itself otherwise, docker.io at its API host', () => {
    expect(registryUrl('plain.example', settings).href).toBe('http://plain.example/')
    expect(registryUrl('docker.io', { plainHttp: [], allow: [] }).href).toBe('https://registry-1.docker.io/')
    expect(registryUrl('constructor', settings).href).toBe('https://constructor/')
  })

  it('is nowhere for a registry that is not allowed, mirrored or not', () => {
    expect(() => registryUrl('docker.io', { ...settings, allow: ['plain.example'] })).toThrow(/not allowed/)
  })
})
