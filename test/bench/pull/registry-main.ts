import { randomBytes } from 'node:crypto'
import { ImageStore, startTestRegistry } from '@upgrade-hub/oci/testing'
import { FILE_IN_LAYER, TAG } from './shape.ts'

/** A registry in a process of its own: `registry-main.ts MIB COMPRESSION`; prints its host and the digest of the layer. */
const [mib = '', compression = ''] = process.argv.slice(2)

const store = new ImageStore()
const content = randomBytes(Number(mib) * 1024 * 1024)
const layer = await store.layer([{ name: FILE_IN_LAYER, content }], compression === 'none' ? 'none' : 'gzip')
store.tags.set(TAG, store.image([layer]).digest)
const { host } = await startTestRegistry(store)
console.log(JSON.stringify({ host, layer: layer.descriptor }))
