export { type DockerRegistry, dockerRegistryProblem, startDockerRegistry } from './docker-registry.ts'
export { downloadLayer } from './download.ts'
export { HurriedClock } from './hurried-clock.ts'
export {
  archive,
  type Compression,
  digestOf,
  type Entry,
  HOST,
  ImageStore,
  type Layer,
} from './image-store.ts'
export { AGENT, FILE, PullBench, TAG } from './pull-bench.ts'
export { startTestProxy, type TestProxy } from './test-proxy.ts'
export { type Intercept, type ServerTls, startTestRegistry, type TestRegistry } from './test-registry.ts'
