import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import type { Zone } from './addresses.ts'
import { lookupIn, type Resolve } from './lookup.ts'

const PUBLIC = { address: '8.8.8.8', family: 4 }
const PRIVATE = { address: '10.0.0.7', family: 4 }
const METADATA = { address: 'fd00:ec2::254', family: 6 }

function look(zones: readonly Zone[], resolve: Resolve, all = true): Promise<string | LookupAddress[]> {
  return new Promise((done, fail) => {
    lookupIn(zones, resolve)('registry.example', { all }, (error, found) =>
      error ? fail(error) : done(found),
    )
  })
}

const always =
  (...addresses: LookupAddress[]): Resolve =>
  (_, __, done) =>
    done(null, addresses)

/** S43 */
describe('a name that is dialled', () => {
  it('leads to a public address', async () => {
    expect(await look(['public'], always(PUBLIC))).toEqual([PUBLIC])
    expect(await look(['public'], always(PUBLIC), false)).toBe(PUBLIC.address)
  })

  it('and leads to a private one, even beside a public one, is refused with advice', async () => {
    const refused = look(['public'], always(PUBLIC, PRIVATE))
    await expect(refused).rejects.toMatchObject({ code: 'OCI_ADDRESS_REFUSED', edgeCode: 'PolicyRefused' })
    await expect(refused).rejects.toThrow(
      'registry.example is at 10.0.0.7: a private address is asked only where',
    )
    expect(await look(['public', 'private'], always(PRIVATE))).toEqual([PRIVATE])
  })

  it('never leads to a metadata service', async () => {
    await expect(look(['public', 'private'], always(METADATA))).rejects.toThrow('is at fd00:ec2::254')
  })

  it('is asked for once a connection, and that answer is what is dialled: rebinding gains nothing', async () => {
    const answers = [PUBLIC, PRIVATE]
    const resolve: Resolve = (_, __, done) => done(null, answers.splice(0, 1))
    expect(await look(['public'], resolve)).toEqual([PUBLIC])
    await expect(look(['public'], resolve)).rejects.toMatchObject({ code: 'OCI_ADDRESS_REFUSED' })
  })

  it('and is not known fails as the resolver says', async () => {
    const unknown: Resolve = (_, __, done) => done(new Error('getaddrinfo ENOTFOUND'), [])
    await expect(look(['public'], unknown)).rejects.toThrow('ENOTFOUND')
  })
})
