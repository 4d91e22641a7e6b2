/** A secret or certificate: in a file that may be replaced at any time, or given as it is. */
export type Material = { readonly file: string } | { readonly text: string }

/** An exec plugin of a kubeconfig (client.authentication.k8s.io). */
export interface ExecPlugin {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Present when the plugin asked for it with `provideClusterInfo`. */
  readonly cluster?: Readonly<Record<string, unknown>>
}

/** How a client proves who it is, apart from a client certificate. */
export type AuthMethod =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: Material }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'exec'; readonly plugin: ExecPlugin }
  | { readonly kind: 'provider'; readonly authorization: () => Promise<string | undefined> }

/** How one API server is reached, and as whom: a kubeconfig context, resolved. */
export interface ClusterAccess {
  /** `https://host:port`, maybe with a path below which the API lives. */
  readonly server: string
  readonly namespace: string
  readonly ca?: Material
  readonly cert?: Material
  readonly key?: Material
  readonly serverName?: string
  readonly insecureSkipVerify: boolean
  readonly proxyUrl?: string
  readonly auth: AuthMethod
  /** `Impersonate-*` headers. */
  readonly impersonation: Readonly<Record<string, string | string[]>>
}
