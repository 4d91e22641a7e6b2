import { HubError } from '@upgrade-hub/core'

/**
 * A certificate, request, token or key that is not to be trusted: PKI_CSR_TOO_BIG, PKI_CSR_INVALID, PKI_CA_INVALID,
 * PKI_NAME_INVALID, PKI_TOKEN_INVALID, PKI_TOKEN_EXPIRED, PKI_TLS_FILES.
 */
export class PkiError extends HubError {}
