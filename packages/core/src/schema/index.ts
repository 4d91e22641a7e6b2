export { firstProblem, type Problem, problemsOf } from './check.ts'
export { withDefaults } from './defaults.ts'
export { Type } from './type.ts'
