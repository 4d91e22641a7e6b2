/** The release that this program belongs to. */
export const EDGE_VERSION = '0.1.0'
