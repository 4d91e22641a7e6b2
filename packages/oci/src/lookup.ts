import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { type Zone, zoneOf } from './addresses.ts'
import { OciError } from './errors.ts'

/** Finds every address of a name, as `dns.lookup` does. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void

/**
 * The look-up of one connection: a name that leads, also by one of its addresses, out of the allowed zones is refused. What
 * was checked is what is dialled, so a name that leads elsewhere a moment later gains nothing.
 */
export function lookupIn(zones: readonly Zone[], resolve: Resolve = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const bad = addresses.find(({ address }) => !zones.includes(zoneOf(address)))
      if (bad) return callback(addressRefused(hostname, bad.address), [])
      const [first] = addresses
      if (options.all || !first) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

/** Says what an operator can do about it, where there is something. */
export function addressRefused(host: string, address: string): OciError {
  const advice =
    zoneOf(address) === 'private'
      ? ': a private address is asked only where registry.allow names the host'
      : ''
  return new OciError('OCI_ADDRESS_REFUSED', `${host} is at ${address}${advice}`)
}
