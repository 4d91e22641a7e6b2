export { type EdgeHubOptions, runEdgeHub } from './run.ts'
export { EDGE_VERSION } from './version.ts'
