export { checkConfig, loadConfig } from './config/load.ts'
export { environmentName, OVERRIDES, readFlags } from './config/overrides.ts'
export { printConfig } from './config/print.ts'
export { HubConfig } from './config/schema.ts'
