import { stringify } from 'yaml'

/** A kubeconfig with everything inline, so that it can be copied. Holds a token: write it with mode 0600. */
export function kubeconfigFor(access: {
  readonly url: string
  readonly ca: string
  readonly token: string
  readonly user: string
}): string {
  const { url, ca, token, user } = access
  const name = 'upgrade-hub'
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name, cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: user, user: { token } }],
    contexts: [{ name, context: { cluster: name, user } }],
    'current-context': name,
  })
}
