export { type EdgeHubOptions, runEdgeHub } from './run.ts'
