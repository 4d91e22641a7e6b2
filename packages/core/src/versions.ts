import { ParseError } from './errors.ts'

/** KubeEdge's grammar (cloud/pkg/admissioncontroller, v1.21.2 and later). */
const KUBEEDGE = /^v\d+\.\d+\.\d+(-[a-zA-Z0-9_.]+(?:-[a-zA-Z0-9_.]+)*)?$/
/** https://semver.org/#is-there-a-suggested-regular-expression-regex-to-check-a-semver-string, `v` optional. */
const SEMVER =
  /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/
/** An OCI tag is at most 128 characters, and the version becomes the tag. */
const MAX_VERSION_LENGTH = 128

/** True for the union of KubeEdge's version grammar and SemVer 2, at most 128 characters. */
export function isVersion(text: string): boolean {
  return text.length <= MAX_VERSION_LENGTH && (KUBEEDGE.test(text) || SEMVER.test(text))
}

/** The form everything is compared in: with a `v`. @throws ParseError for what is no version. */
export function canonicalVersion(text: string): string {
  if (!isVersion(text)) throw new ParseError('version', text, 'write it like v1.12.0, v1.12.0-rc.1 or 1.12.0')
  return text.startsWith('v') ? text : `v${text}`
}

/** The OCI tag of a version: `+` is not allowed in a tag and becomes `-`. */
export function tagForVersion(version: string): string {
  return canonicalVersion(version).replaceAll('+', '-')
}

/**
 * The order of two versions under an upgrade tool: negative, 0 or positive; undefined when they cannot be ordered and only
 * equality says anything. `keadm` orders as SemVer 2 section 11, where `+build` does not order.
 */
export function compareVersions(tool: string, left: string, right: string): number | undefined {
  const a = canonicalVersion(left)
  const b = canonicalVersion(right)
  if (a === b) return 0
  if (tool !== 'keadm') return undefined
  const x = SEMVER.exec(a)
  const y = SEMVER.exec(b)
  if (!x || !y) return undefined
  for (const part of [1, 2, 3]) {
    const order = compareNumeric(x[part] ?? '', y[part] ?? '')
    if (order !== 0) return order
  }
  return comparePrerelease(x[4], y[4])
}

function comparePrerelease(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0
  if (a === undefined) return 1
  if (b === undefined) return -1
  const left = a.split('.')
  const right = b.split('.')
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareIdentifier(left[i] ?? '', right[i] ?? '')
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Numeric identifiers order below alphanumeric ones; numbers of any length compare without losing digits. */
function compareIdentifier(a: string, b: string): number {
  const aNumeric = /^\d+$/.test(a)
  const bNumeric = /^\d+$/.test(b)
  if (aNumeric && bNumeric) return compareNumeric(a, b)
  if (aNumeric !== bNumeric) return aNumeric ? -1 : 1
  return a < b ? -1 : a > b ? 1 : 0
}

function compareNumeric(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
