export { type Controllers, type ControllersOptions, startControllers } from './start-controllers.ts'
