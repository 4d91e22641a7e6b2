/** The release that the programs of a node belong to. */
export const EDGE_VERSION = '0.1.0'
