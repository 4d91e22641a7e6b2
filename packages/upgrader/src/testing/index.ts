export { type AgentKind, agentProgram } from './fake-agent.ts'
export { createNode, type NodeFixture, type NodeOptions, prepareFor } from './node-fixture.ts'
export { testPorts } from './run.ts'
