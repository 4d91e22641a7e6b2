/** Paths of fields as Kubernetes writes them; `''` is the root. */
export const child = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)
/** An entry of a map: `spec.digests[linux/amd64]`. */
export const key = (path: string, name: string) => `${path}[${name}]`
export const index = (path: string, position: number) => `${path}[${position}]`
