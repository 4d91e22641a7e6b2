export { ListenError, StatusError, StorageError } from './errors.ts'
export type { TokenUser } from './http/authenticator.ts'
export type { TlsMaterial } from './http/server.ts'
export { type EmbeddedApi, type EmbeddedOptions, startEmbedded } from './start.ts'
