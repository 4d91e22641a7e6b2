import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { connect, NAMESPACES } from '@upgrade-hub/kube'
import { expect, it } from 'vitest'
import { describePlanes, kubeconfigFor } from '../harness/index.ts'

describePlanes('credentials of a kubeconfig', (plane) => {
  const folder = () => mkdtempSync(join(plane.folder, 'credentials-'))
  const { token } = plane.users.admin

  async function namespaceAs(user: object): Promise<string | undefined> {
    const kubeconfig = join(folder(), 'kubeconfig')
    writeFileSync(kubeconfig, kubeconfigFor(plane, user))
    const client = await connect({ kubeconfig, clock: systemClock, log: silentLogger })
    try {
      return (await client.get(NAMESPACES, 'default')).metadata.name
    } finally {
      await client.close()
    }
  }

  it('are a token', async () => {
    expect(await namespaceAs({ token })).toBe('default')
  })

  it('are a file with a token', async () => {
    const tokenFile = join(folder(), 'token')
    writeFileSync(tokenFile, `${token}\n`)
    expect(await namespaceAs({ tokenFile })).toBe('default')
  })

  it('are what a program prints', async () => {
    const program = join(folder(), 'plugin.mjs')
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token },
    }
    writeFileSync(program, `console.log(${JSON.stringify(JSON.stringify(credential))})`)
    const exec = {
      apiVersion: credential.apiVersion,
      command: process.execPath,
      args: [program],
      interactiveMode: 'Never',
    }
    expect(await namespaceAs({ exec })).toBe('default')
  })

  const { clientCertificate } = plane
  if (clientCertificate) {
    it('are a client certificate', async () => {
      const { certFile, keyFile } = clientCertificate
      expect(await namespaceAs({ 'client-certificate': certFile, 'client-key': keyFile })).toBe('default')
    })
  }

  it('that are wrong are refused with a code', async () => {
    await expect(namespaceAs({ token: 'nobody-knows-me' })).rejects.toMatchObject({
      code: 'KUBE_UNAUTHORIZED',
    })
  })
})
