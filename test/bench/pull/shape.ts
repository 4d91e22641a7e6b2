/** What is pulled. */
export const FILE_IN_LAYER = 'usr/local/bin/edgecore'
export const TAG = 'v1.0.0'
