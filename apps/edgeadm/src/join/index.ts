export { join } from './join.ts'
export { certRenew } from './renew.ts'
