import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { FakeClock } from '@upgrade-hub/core/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Ca, createCa, createNodeCsr, identityOf, loadCa } from './index.ts'
import { SIGNING_ALGORITHM } from './keys.ts'
import { x509 } from './x509.ts'

const HOUR = 3_600
let ca: Ca
beforeAll(async () => {
  ca = await createCa({ commonName: 'test CA', validDays: 365 })
})

describe('node certificates', () => {
  it('speak for the node the hub names and carry the key of the request', async () => {
    const { csrDer, keyPem } = await createNodeCsr({ nodeName: 'edge-1' })
    const signed = await ca.signNodeCsr(csrDer, { nodeName: 'edge-1', validSeconds: HOUR })
    const cert = new X509Certificate(signed.certDer)
    expect(identityOf(cert)).toEqual({ nodeName: 'edge-1', fingerprint: signed.fingerprint })
    expect(cert.verify(new X509Certificate(ca.certPem).publicKey)).toBe(true)
    expect(keyPem).toContain('BEGIN PRIVATE KEY')
    expect(signed.fingerprint).toMatch(/^[a-f0-9]{64}$/)
  })

  it('keep their fingerprint over a renewal with the same key and change it with another', async () => {
    const first = await createNodeCsr({ nodeName: 'edge-1' })
    const renewal = await createNodeCsr({ nodeName: 'edge-1', keyPem: first.keyPem })
    const again = await ca.signNodeCsr(first.csrDer, { nodeName: 'edge-1', validSeconds: HOUR })
    const more = await ca.signNodeCsr(renewal.csrDer, { nodeName: 'edge-1', validSeconds: 2 * HOUR })
    const other = await ca.signNodeCsr((await createNodeCsr({ nodeName: 'edge-1' })).csrDer, {
      nodeName: 'edge-1',
      validSeconds: HOUR,
    })
    expect(more.fingerprint).toBe(again.fingerprint)
    expect(other.fingerprint).not.toBe(again.fingerprint)
  })

  it('take nothing but the key from the request: no subject, usage, names or CA flag of its own', async () => {
    const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ])
    const greedy = await x509.Pkcs10CertificateRequestGenerator.create({
      name: 'CN=system:node:victim, O=system:masters',
      keys,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'hub.example' }]),
      ],
    })
    const signed = await ca.signNodeCsr(Buffer.from(greedy.rawData), {
      nodeName: 'edge-2',
      validSeconds: HOUR,
    })
    const cert = new X509Certificate(signed.certDer)
    expect(cert.subject).toBe('CN=system:node:edge-2\nO=system:nodes')
    expect(cert.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
    expect(cert.subjectAltName).toBeUndefined()
    expect(cert.ca).toBe(false)
  })

  it('are refused for a request that is too big, garbage, of another curve or not signed by its key', async () => {
    const options = { nodeName: 'edge-1', validSeconds: HOUR }
    await expect(ca.signNodeCsr(Buffer.alloc(16_385), options)).rejects.toMatchObject({
      code: 'PKI_CSR_TOO_BIG',
    })
    for (const garbage of [
      Buffer.alloc(0),
      Buffer.from('hello'),
      Buffer.alloc(16_384, 0x30),
      Buffer.alloc(9000, 0xa0),
    ]) {
      await expect(ca.signNodeCsr(garbage, options)).rejects.toMatchObject({ code: 'PKI_CSR_INVALID' })
    }
    const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, true, [
      'sign',
      'verify',
    ])
    const other = await x509.Pkcs10CertificateRequestGenerator.create({
      name: 'CN=x',
      keys,
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-384' },
    })
    await expect(ca.signNodeCsr(Buffer.from(other.rawData), options)).rejects.toMatchObject({
      code: 'PKI_CSR_INVALID',
    })
    const { csrDer } = await createNodeCsr({ nodeName: 'edge-1' })
    csrDer[csrDer.length - 1] = (csrDer[csrDer.length - 1] ?? 0) ^ 1
    await expect(ca.signNodeCsr(csrDer, options)).rejects.toMatchObject({ code: 'PKI_CSR_INVALID' })
  })

  it('are refused for what is no node name', async () => {
    const { csrDer } = await createNodeCsr({ nodeName: 'edge-1' })
    for (const nodeName of ['', 'Edge', 'a/b', 'a\0b', 'а', '-a', 'a..b', 'x'.repeat(254)]) {
      await expect(ca.signNodeCsr(csrDer, { nodeName, validSeconds: HOUR })).rejects.toMatchObject({
        code: 'PKI_NAME_INVALID',
      })
    }
  })

  it('end no later than their CA and are valid for clocks an hour behind', async () => {
    const clock = new FakeClock(Date.parse('2026-05-01T00:00:00Z'))
    const short = await createCa({ commonName: 'short', validDays: 1 }, clock)
    const { csrDer } = await createNodeCsr({ nodeName: 'x'.repeat(253) })
    const signed = await short.signNodeCsr(csrDer, { nodeName: 'x'.repeat(253), validSeconds: 9e6 })
    expect(signed.notAfter.toISOString()).toBe('2026-05-02T00:00:00.000Z')
    expect(new X509Certificate(signed.certDer).validFromDate.toISOString()).toBe('2026-04-30T23:00:00.000Z')
    expect(identityOf(signed.certDer)?.nodeName).toBe('x'.repeat(253))
  })
})

describe('the CA', () => {
  it('survives storage, and issues server and client certificates that chain to it', async () => {
    const loaded = await loadCa({ certPem: ca.certPem, keyPem: ca.keyPem })
    const server = await loaded.issueServer({
      dnsNames: ['hub.example'],
      ipAddresses: ['127.0.0.1'],
      validDays: 1,
    })
    const client = await loaded.issueClient({
      commonName: 'system:node:a',
      organization: 'system:nodes',
      validDays: 1,
    })
    const root = new X509Certificate(ca.certPem)
    const cert = new X509Certificate(server.certPem)
    expect(cert.checkIssued(root) && cert.verify(root.publicKey)).toBe(true)
    expect(cert.checkHost('hub.example')).toBe('hub.example')
    expect(cert.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(identityOf(cert)).toBeUndefined()
    expect(identityOf(new X509Certificate(client.certPem))?.nodeName).toBe('a')
  })

  it('reads the SEC1 keys that KubeEdge stores, and refuses the key of another CA', async () => {
    const sec1 = (pem: KeyObject) => pem.export({ type: 'sec1', format: 'pem' }).toString()
    const loaded = await loadCa({ certPem: ca.certPem, keyPem: sec1(createPrivateKey(ca.keyPem)) })
    expect(loaded.certDer).toEqual(ca.certDer)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await expect(loadCa({ certPem: ca.certPem, keyPem: sec1(privateKey) })).rejects.toThrow(
      'not a CA of this key',
    )
  })

  it('is refused when the key is unreadable or the certificate is a leaf', async () => {
    const server = await ca.issueServer({ dnsNames: ['a'], ipAddresses: [], validDays: 1 })
    for (const options of [
      server,
      { certPem: ca.certPem, keyPem: 'x' },
      { certPem: '', keyPem: ca.keyPem },
    ]) {
      await expect(loadCa(options)).rejects.toMatchObject({ code: 'PKI_CA_INVALID' })
    }
  })
})

describe('identity, S26', () => {
  const subjects: [string, x509.JsonName][] = [
    ['empty name', [{ CN: ['system:node:'] }, { O: ['system:nodes'] }]],
    ['NUL', [{ CN: ['system:node:a\0b'] }, { O: ['system:nodes'] }]],
    ['slash', [{ CN: ['system:node:a/b'] }, { O: ['system:nodes'] }]],
    ['look-alike', [{ CN: ['system:node:а'] }, { O: ['system:nodes'] }]],
    ['upper case', [{ CN: ['system:node:A'] }, { O: ['system:nodes'] }]],
    ['no organization', [{ CN: ['system:node:a'] }]],
    ['other organization', [{ CN: ['system:node:a'] }, { O: ['system:masters'] }]],
    ['two organizations', [{ CN: ['system:node:a'] }, { O: ['system:nodes'] }, { O: ['system:masters'] }]],
    ['two names', [{ CN: ['system:node:a'] }, { CN: ['system:node:b'] }, { O: ['system:nodes'] }]],
    ['newline', [{ CN: ['x\nCN=system:node:a\nO=system:nodes'] }]],
    ['newline in O', [{ O: ['system:nodes\nCN=system:node:a'] }]],
    ['multi-valued', [{ CN: ['system:node:a'], O: ['system:nodes'] }]],
  ]
  it.each(subjects)('is not taken from a subject with %s', async (_, subject) => {
    const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ])
    const cert = await x509.X509CertificateGenerator.create({
      subject,
      issuer: 'CN=some',
      publicKey: keys.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])],
    })
    expect(identityOf(new Uint8Array(cert.rawData))).toBeUndefined()
  })

  it('is not taken from what is no certificate', () => {
    expect(identityOf(Buffer.from('nonsense'))).toBeUndefined()
  })
})

describe('a server certificate', () => {
  it('is never taken for self-signed, whatever its CA is called', async () => {
    for (const commonName of ['upgrade-hub', 'hub']) {
      const ca = await createCa({ commonName, validDays: 1 })
      const server = new X509Certificate(
        (await ca.issueServer({ dnsNames: ['localhost'], ipAddresses: [], validDays: 1 })).certPem,
      )
      expect(server.subject).not.toBe(server.issuer)
      expect(server.checkIssued(new X509Certificate(ca.certPem))).toBe(true)
    }
  })
})
