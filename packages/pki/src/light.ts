/** What the edge daemon needs of this package, without the 70 MB of the X.509 library. */
export { PkiError } from './errors.ts'
export { fingerprintOf, identityOf, type NodeIdentity } from './identity.ts'
export { isNodeName, NODE_CN_PREFIX, NODE_ORGANIZATION } from './node-name.ts'
export { followTlsFiles, readTlsFiles, type TlsFiles, type TlsMaterial } from './tls-files.ts'
export { caHash, issueToken, splitToken, type TokenClaims, verifyToken } from './tokens.ts'
