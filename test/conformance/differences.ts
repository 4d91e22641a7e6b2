import type { Recorded } from './recorder.ts'

/** A place where the embedded API answers otherwise than kube-apiserver, and means to. */
export interface KnownDifference {
  /** Which answers it is about: a part of their label. */
  readonly at: RegExp
  /** Why it is so, for the reader of the list. */
  readonly reason: string
  /** Takes what is known to differ out of an answer of either plane. */
  readonly forgive: (answer: Recorded) => Recorded
}

/** Everything that is known to differ. A difference that is not here fails the comparison. */
export const KNOWN_DIFFERENCES: readonly KnownDifference[] = []

/** An answer without what is known to differ. */
export function forgiven(answer: Recorded): Recorded {
  return KNOWN_DIFFERENCES.filter(({ at }) => at.test(answer.label)).reduce(
    (rest, { forgive }) => forgive(rest),
    answer,
  )
}
