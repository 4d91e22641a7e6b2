import type { Environment } from './overrides.ts'

/** The only look at the environment of the process. */
export const environment: Environment = process.env
