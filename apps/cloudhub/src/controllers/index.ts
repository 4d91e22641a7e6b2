export { LEASE_NAME, startControllers } from './start-controllers.ts'
