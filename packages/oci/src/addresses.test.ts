import { describe, expect, it } from 'vitest'
import { addressIn, zoneOf } from './addresses.ts'

/** S43 */
describe('the zone of an address', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['172.32.0.1', 'public'],
    ['2606:4700::1111', 'public'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['127.0.0.1', 'private'],
    ['::1', 'private'],
    ['fd12::1', 'private'],
    ['169.254.169.254', 'never'],
    ['0.0.0.0', 'never'],
    ['255.255.255.255', 'never'],
    ['224.0.0.1', 'never'],
    ['168.63.129.16', 'never'],
    ['::', 'never'],
    ['fe80::1', 'never'],
    ['fd00:ec2::254', 'never'],
    ['ff02::1', 'never'],
  ])('of %s is %s', (address, zone) => expect(zoneOf(address)).toBe(zone))

  it.each([
    ['::ffff:169.254.169.254', 'never'],
    ['::ffff:a9fe:a9fe', 'never'],
    ['::ffff:10.0.0.1', 'private'],
    ['::127.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'never'],
    ['2002:a9fe:a9fe::1', 'never'],
    ['::ffff:8.8.8.8', 'public'],
  ])('of IPv4 inside IPv6, %s, is that of the IPv4 address: %s', (address, zone) => {
    expect(zoneOf(address)).toBe(zone)
  })
})

describe('the address in a URL', () => {
  it.each([
    ['https://127.0.0.1/', '127.0.0.1'],
    ['https://0x7f.1/', '127.0.0.1'],
    ['https://2130706433/', '127.0.0.1'],
    ['https://0251.0376.0251.0376/', '169.254.169.254'],
    ['https://[::1]:5000/', '::1'],
    ['https://localhost/', '127.0.0.1'],
    ['https://a.localhost/', '127.0.0.1'],
    ['https://localhost./', '127.0.0.1'],
  ])('%s is %s, however it is written', (url, address) => {
    expect(addressIn(new URL(url).hostname)).toBe(address)
  })

  it('is none where there is a name', () => {
    expect(addressIn(new URL('https://metadata/').hostname)).toBeUndefined()
  })
})
