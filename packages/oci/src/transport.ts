import { createSecureContext, getCACertificates } from 'node:tls'
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { addressIn, type Zone, zoneOf } from './addresses.ts'
import { addressRefused, lookupIn } from './lookup.ts'
import type { PullLimits, RegistrySettings } from './settings.ts'
import { isNamed } from './sources.ts'

const NAMED_ZONES: readonly Zone[] = ['public', 'private']

/**
 * How requests go out: straight or by the proxies of the settings, with the private CA beside the system's. Where a name
 * leads is checked when it is dialled, so that it cannot lead elsewhere a moment later. What goes by a proxy is resolved
 * there.
 */
export function createTransport(settings: RegistrySettings, limits: PullLimits): Dispatcher {
  const { headersTimeoutMs: timeout, rateWindowMs: bodyTimeout } = limits
  const tls = once(() => ({ secureContext: secureContextOf(settings.ca), allowH2: false, timeout }))
  const connect: buildConnector.connector = (target, callback) => {
    const zones: readonly Zone[] = isNamed(target.host ?? '', settings) ? NAMED_ZONES : ['public']
    const secure = target.protocol === 'https:' ? tls() : { timeout }
    buildConnector({ ...secure, lookup: lookupIn(zones) })(target, callback)
  }
  const options = { connect, headersTimeout: timeout, bodyTimeout }
  const { proxy } = settings
  if (!proxy) return new Agent(options)
  return new EnvHttpProxyAgent({
    ...options,
    // An empty text keeps the library from reading the environment.
    httpProxy: proxy.http ?? '',
    httpsProxy: proxy.https ?? '',
    noProxy: proxy.noProxy,
    requestTls: tls(),
    proxyTls: tls(),
  })
}

/**
 * Refuses a URL that names an address where this node must not ask, before anything is sent.
 * @throws OciError OCI_ADDRESS_REFUSED
 */
export function checkAddress(url: URL, settings: RegistrySettings): void {
  const address = addressIn(url.hostname)
  if (address === undefined) return
  const allowed: readonly Zone[] = isNamed(url.host, settings) ? NAMED_ZONES : ['public']
  if (!allowed.includes(zoneOf(address))) throw addressRefused(url.host, address)
}

/** Reading all the system's certificates takes a moment, and plain HTTP needs none. */
function secureContextOf(ca: string | undefined) {
  const own = ca === undefined ? [] : [ca]
  return createSecureContext({
    ca: [...getCACertificates('default'), ...getCACertificates('system'), ...own],
  })
}

function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
