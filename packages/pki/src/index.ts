export { type Ca, createCa, type Issued, loadCa, type SignedNode } from './ca.ts'
export { createNodeCsr, MAX_CSR_BYTES } from './csr.ts'
export * from './light.ts'
