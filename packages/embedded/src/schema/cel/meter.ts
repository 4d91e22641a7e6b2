import { CelError } from '../errors.ts'

/** One expression may look at this many elements, a whole object at ten times as many. */
const CALL_LIMIT = 1_000_000
const OBJECT_LIMIT = 10_000_000

/**
 * Counts what an evaluation looks at, because the evaluator itself has no end: elements of loops and of comparisons,
 * characters of patterns. Throws `CelError` when the budget of the expression is spent.
 */
export class Meter {
  #call = 0
  #object = OBJECT_LIMIT

  /** Starts the budget of one object. */
  reset(): void {
    this.#object = OBJECT_LIMIT
    this.#call = 0
  }

  /** Starts the budget of one expression. */
  begin(): void {
    this.#call = Math.min(CALL_LIMIT, this.#object)
  }

  charge(units: number): void {
    this.#call -= units
    this.#object -= units
    if (this.#call < 0) throw new CelError('operation cancelled: actual cost limit exceeded')
  }

  /** True once an expression has used up its share: `||` and `&&` may have swallowed the error. */
  get overdrawn(): boolean {
    return this.#call < 0
  }

  get exhausted(): boolean {
    return this.#object <= 0
  }
}
