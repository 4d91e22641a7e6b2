import { isIP } from 'node:net'
import { OciError } from './errors.ts'

/**
 * Where a redirect may lead: from HTTPS only to HTTPS, and never by address into this host or its link (metadata services
 * live there) unless the registry itself is that host. @throws OciError PullFailed
 */
export function followRedirect(from: URL, location: string | undefined): URL {
  const to = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (!to || (to.protocol !== 'https:' && to.protocol !== 'http:')) throw refused('to no address')
  if (from.protocol === 'https:' && to.protocol !== 'https:') throw refused('away from HTTPS')
  if (to.username !== '' || to.password !== '') throw refused('with a password in it')
  if (to.hostname !== from.hostname && isInside(to.hostname)) throw refused(`into this host (${to.hostname})`)
  return to
}

function isInside(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  if (isIP(host) === 4) return /^(127\.|169\.254\.|0\.)/.test(host)
  return isIP(host) === 6 && (/^(::1?$|fe[89ab])/.test(host) || host.startsWith('::ffff:'))
}

function refused(where: string): OciError {
  return new OciError('PullFailed', `the registry redirects ${where}`)
}
