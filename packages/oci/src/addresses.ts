import { BlockList, isIP } from 'node:net'

/** Where an address is. `never`: nobody has a registry there, and clouds have their metadata services there. */
export type Zone = 'public' | 'private' | 'never'

/** @see https://www.iana.org/assignments/iana-ipv4-special-registry and the one for IPv6 */
const NEVER = listOf([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '168.63.129.16/32',
  '224.0.0.0/3',
  '::/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  'fd00:ec2::/32',
])
const PRIVATE = listOf([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '::1/128',
  'fc00::/7',
])

/** The zone of an IP address. An IPv4 address inside IPv6 (mapped, NAT64, 6to4) counts as what it is. */
export function zoneOf(address: string): Zone {
  const plain = embeddedIpv4(address) ?? address
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4'
  if (NEVER.check(plain, family)) return 'never'
  return PRIVATE.check(plain, family) ? 'private' : 'public'
}

/** The hostname of a URL as an address, if it is one: WHATWG URLs have turned `0x7f.1` and `2130706433` into dots already. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(bare) !== 0) return bare
  return bare === 'localhost' || bare.endsWith('.localhost') ? '127.0.0.1' : undefined
}

function embeddedIpv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined
  const groups = expand(address)
  if (groups === undefined) return undefined
  const [a, b, , , , f] = groups
  const head = groups.slice(0, 5).every((group) => group === 0)
  const isMapped = head && (f === 0xffff || (f === 0 && groups.slice(6).some((group) => group > 1)))
  const isNat64 = a === 0x64 && b === 0xff9b
  if (isMapped || isNat64) return dotted(groups[6] ?? 0, groups[7] ?? 0)
  return a === 0x2002 ? dotted(b ?? 0, groups[2] ?? 0) : undefined
}

/** The eight groups of an IPv6 address. */
function expand(address: string): number[] | undefined {
  const hostname = URL.canParse(`http://[${address}]/`) ? new URL(`http://[${address}]/`).hostname : ''
  const [left = '', right] = hostname.replace(/^\[|\]$/g, '').split('::')
  const head = left === '' ? [] : left.split(':')
  const tail = right === undefined || right === '' ? [] : right.split(':')
  const middle = right === undefined ? 0 : 8 - head.length - tail.length
  const groups = [...head, ...Array.from({ length: middle }, () => '0'), ...tail].map((hex) =>
    parseInt(hex, 16),
  )
  return groups.length === 8 ? groups : undefined
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [net = '', prefix = ''] = range.split('/')
    list.addSubnet(net, Number(prefix), isIP(net) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}
