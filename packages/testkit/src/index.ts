export { type EdgeBehaviour, SimulatedEdge, type SimulatedEdgeOptions } from './simulated-edge.ts'
