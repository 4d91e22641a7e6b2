import { invalid } from '../cause.ts'
import type { Correlated } from '../correlation.ts'
import { correlatedItem } from '../correlation.ts'
import { isList, isObject, own } from '../json.ts'
import { child, index, key } from '../path.ts'
import { extraSchema } from '../prune.ts'
import type { Cause, Json, JsonSchema } from '../types.ts'
import {
  type CompiledRule,
  compileRule,
  type RuleEngine,
  type RuleSubject,
  ruleEngine,
  runRule,
  shownValue,
} from './rule.ts'
import { asSeen, type Memo, toCel } from './values.ts'

/** A schema node with rules at it or below it. */
interface RuleNode {
  readonly schema: JsonSchema
  readonly rules: readonly CompiledRule[]
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly items: RuleNode | undefined
  readonly extra: RuleNode | undefined
}

/** The rules of a schema. */
export interface RuleTree {
  /** Every rule that a value breaks; with `old` transition rules run, with `correlated` the unchanged is tolerated. */
  causes(value: Json, old: Json | undefined, correlated: Correlated | undefined): readonly Cause[]
}

/** A value on its way through the tree. `near` is the closest value that has a counterpart in the old object. */
interface Visit {
  readonly old: Json | undefined
  readonly path: string
  readonly correlated: Correlated | undefined
  readonly near: Correlated | undefined
}

function compileNode(schema: JsonSchema, engine: RuleEngine): RuleNode | undefined {
  const at = asSeen(schema)
  const rules = (schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, at, engine))
  const properties = new Map<string, RuleNode>()
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const node = compileNode(property, engine)
    if (node !== undefined) properties.set(name, node)
  }
  const items = schema.items && compileNode(schema.items, engine)
  const extraOf = extraSchema(schema)
  const extra = extraOf && compileNode(extraOf, engine)
  const empty = rules.length === 0 && properties.size === 0 && items === undefined && extra === undefined
  return empty ? undefined : { schema: at, rules, properties, items, extra }
}

function below(visit: Visit, path: string, old: Json | undefined, correlated: Correlated | undefined): Visit {
  return { old, path, correlated, near: visit.correlated ?? visit.near }
}

/** One walk of an object; it stops for good when the budget of the object is spent. */
class Walk {
  readonly causes: Cause[] = []
  readonly #engine: RuleEngine
  readonly #memo: Memo = new WeakMap()
  #stopped = false

  constructor(engine: RuleEngine) {
    this.#engine = engine
  }

  visit(value: Json, node: RuleNode, visit: Visit): void {
    if (value === null || this.#stopped) return
    this.#runRules(value, node, visit)
    if (isList(value)) this.#visitItems(value, node, visit)
    if (isObject(value)) this.#visitEntries(value, node, visit)
  }

  #runRules(value: Json, node: RuleNode, { old, path, correlated, near }: Visit): void {
    if (node.rules.length === 0) return
    const type = node.schema.type ?? ''
    const self = toCel(value, node.schema, this.#memo)
    const before = old === undefined || old === null ? undefined : toCel(old, node.schema, this.#memo)
    const subject: RuleSubject = { self, old: before, shown: shownValue(value), path, type }
    for (const rule of node.rules) {
      if (this.#stopped) return
      const found = runRule(rule, subject)
      const tolerated = !rule.usesOldSelf && ((correlated ?? near)?.unchanged ?? false)
      if (found !== undefined && !tolerated) this.causes.push(found)
      if (this.#engine.meter.overdrawn) this.#stop(path, type)
    }
  }

  #stop(path: string, type: string): void {
    this.#stopped = true
    if (!this.#engine.meter.exhausted) return
    const why = 'validation failed due to running out of cost budget, no further validation rules will be run'
    this.causes.push(invalid(path, type, why))
  }

  #visitItems(list: readonly Json[], node: RuleNode, visit: Visit): void {
    const { items } = node
    if (items === undefined) return
    list.forEach((item, i) => {
      const old = correlatedItem(node.schema, visit.old, item)
      this.visit(item, items, below(visit, index(visit.path, i), old, visit.correlated?.index(i)))
    })
  }

  #visitEntries(object: Readonly<Record<string, Json>>, node: RuleNode, visit: Visit): void {
    for (const [name, value] of Object.entries(object)) {
      const named = node.properties.get(name)
      const next = named ?? (own(node.schema.properties, name) === undefined ? node.extra : undefined)
      if (next === undefined) continue
      const path = named === undefined ? key(visit.path, name) : child(visit.path, name)
      const old = isObject(visit.old) ? own(visit.old, name) : undefined
      this.visit(value, next, below(visit, path, old, visit.correlated?.key(name)))
    }
  }
}

/** Compiles the rules of a whole schema; undefined when it has none. Throws for a rule that does not parse. */
export function compileRules(schema: JsonSchema): RuleTree | undefined {
  const engine = ruleEngine()
  const root = compileNode({ ...schema, 'x-kubernetes-embedded-resource': true }, engine)
  if (root === undefined) return undefined
  return {
    causes(value, old, correlated) {
      engine.meter.reset()
      const walk = new Walk(engine)
      walk.visit(value, root, { old, path: '', correlated, near: undefined })
      return walk.causes
    },
  }
}
