import type { CelRule } from './schema-kit.ts'

/** Every refusal of these starts with `Stale:`, which tells a writer that newer truth is already stored. */
function stale(rule: string, message: string): CelRule {
  return { rule, message: `Stale: ${message}`, reason: 'FieldValueForbidden' }
}

export const TASK_SPEC_RULES: readonly CelRule[] = [
  { rule: 'self == oldSelf', message: 'the spec of a task never changes', reason: 'FieldValueForbidden' },
]

/** What the edge said is never unsaid: an attempt and its journal number only go up, entries only come. */
export const EDGE_RULES: readonly CelRule[] = [
  stale(
    'self.attempt > oldSelf.attempt || (self.attempt == oldSelf.attempt && self.seq >= oldSelf.seq)',
    'attempt and seq never go back',
  ),
  stale(
    'self.attempt > oldSelf.attempt || !has(oldSelf.actions) || (has(self.actions) && oldSelf.actions.all(o, self.actions.exists(s, s == o)))',
    'no action of the current attempt is removed',
  ),
  stale(
    '!has(oldSelf.results) || (has(self.results) && oldSelf.results.all(o, self.results.exists(s, s == o)))',
    'a stored result is never changed or removed',
  ),
  stale(
    '!has(oldSelf.late) || (has(self.late) && oldSelf.late.all(o, self.late.exists(s, s == o)))',
    'a late result is never changed or removed',
  ),
]

export const TASK_STATUS_RULES: readonly CelRule[] = [
  stale('!has(oldSelf.edge) || has(self.edge)', 'what the edge said is never removed'),
  stale(
    "self.phase == oldSelf.phase || oldSelf.phase in ['Pending', 'InProgress'] || (oldSelf.phase == 'Unknown' && self.phase in ['Successful', 'Failure']) || (oldSelf.phase in ['Failure', 'Unknown'] && self.phase == 'Pending' && has(self.attempt) && has(oldSelf.attempt) && self.attempt == oldSelf.attempt + 1)",
    'an ended task does not change its phase',
  ),
  stale(
    '!has(oldSelf.attempt) || (has(self.attempt) && self.attempt >= oldSelf.attempt)',
    'the attempt never goes back',
  ),
  stale(
    "!has(oldSelf.attempts) || (has(self.attempts) && oldSelf.attempts.all(o, self.attempts.exists(s, s.attempt == o.attempt && (s == o || !has(o.outcome) || o.outcome in ['', 'Unknown']))))",
    'how an attempt ended is never changed or removed',
  ),
]
