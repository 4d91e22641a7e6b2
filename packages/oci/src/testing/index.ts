export {
  archive,
  type Compression,
  digestOf,
  type Entry,
  HOST,
  ImageStore,
  type Layer,
} from './image-store.ts'
export { type Intercept, startTestRegistry, type TestRegistry } from './test-registry.ts'
