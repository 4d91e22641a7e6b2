import { celEquals } from './equality.ts'
import { celMatches } from './library.ts'
import type { Meter } from './meter.ts'

type Run = (evaluator: Evaluator, node: Node, context: unknown) => unknown

interface Evaluator {
  run(node: Node, context: unknown): unknown
}

/** A node of the parsed expression with the parts of it that its type declarations leave out (cel-js 8.0.0). */
export interface Node {
  readonly op: string
  readonly args: unknown
  readonly meta: { readonly evaluate: Run; readonly alternate?: Node; readonly macro?: Macro }
  setMeta(key: 'evaluate', run: Run): unknown
  /** Set on loops by the type check. */
  handle?(items: unknown, loop: unknown, evaluator: Evaluator, context: unknown): unknown
}

interface Checker {
  check(node: Node, context: unknown): unknown
}

interface Macro {
  readonly args?: unknown
  typeCheck: (checker: Checker, macro: Macro, context: unknown) => unknown
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'setMeta' in value && 'op' in value
}

function isMacroOf(macro: Macro | undefined, node: Node, name: string): macro is Macro {
  return macro !== undefined && node.op === 'call' && Array.isArray(node.args) && node.args[0] === name
}

/** Every node below a value, each once: loops share nodes between what was written and what is run. */
function* nodesOf(value: unknown, seen: Set<unknown> = new Set()): Generator<Node> {
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  if (isNode(value)) {
    yield value
    yield* nodesOf([value.args, value.meta.alternate, value.meta.macro], seen)
  } else for (const part of Object.values(value)) yield* nodesOf(part, seen)
}

function pairOf(node: Node): readonly [Node, Node] {
  return node.args as readonly [Node, Node]
}

function sizeOf(items: unknown): number {
  if (Array.isArray(items)) return items.length
  return typeof items === 'object' && items !== null ? Object.keys(items).length : 1
}

function contains(item: unknown, range: unknown, meter: Meter): boolean | undefined {
  if (Array.isArray(range)) return range.some((entry) => celEquals(entry, item, meter))
  return typeof range === 'object' && range !== null && typeof item === 'string'
    ? Object.hasOwn(range, item)
    : undefined
}

/** The evaluation of a node where Kubernetes differs from the evaluator, or where it would have no bound. */
function replacement(node: Node, meter: Meter): Run | undefined {
  const original = node.meta.evaluate
  switch (node.op) {
    case '==':
    case '!=': {
      const [left, right] = pairOf(node)
      return (ev, _, context) =>
        celEquals(ev.run(left, context), ev.run(right, context), meter) === (node.op === '==')
    }
    case 'in': {
      const [left, right] = pairOf(node)
      return (ev, _, context) =>
        contains(ev.run(left, context), ev.run(right, context), meter) ?? original(ev, node, context)
    }
    case 'rcall': {
      const [name, receiver, args] = node.args as readonly [string, Node, readonly Node[]]
      const pattern = args[0]
      if (name !== 'matches' || args.length !== 1 || pattern === undefined) return undefined
      return (ev, _, context) => celMatches(ev.run(receiver, context), ev.run(pattern, context), meter)
    }
    case 'comprehension': {
      const loop = node.args as { readonly iterable: Node }
      return (ev, _, context) => {
        const items = ev.run(loop.iterable, context)
        meter.charge(1 + sizeOf(items))
        return node.handle?.(items, loop, ev, context)
      }
    }
    default:
      return undefined
  }
}

/** Equality and membership by value, `matches` by RE2 and a price on every loop, in place of the evaluator's own. */
export function adapt(ast: unknown, meter: Meter): void {
  for (const node of nodesOf(ast)) {
    const run = replacement(node, meter)
    if (run !== undefined) node.setMeta('evaluate', run)
  }
}

/** Makes `has(a.b)` of a field that no schema knows a compile error: the checker itself only looks at `a`. */
export function checkPresenceTests(ast: unknown): void {
  for (const node of nodesOf(ast)) {
    const { macro } = node.meta
    if (!isMacroOf(macro, node, 'has')) continue
    const original = macro.typeCheck
    macro.typeCheck = (checker, self, context) => {
      const [selected] = self.args as readonly [Node]
      const type = original(checker, self, context)
      checker.check(selected, context)
      return type
    }
  }
}

/** Whether the expression names the variable. */
export function mentions(ast: unknown, variable: string): boolean {
  return nodesOf(ast).some((node) => node.op === 'id' && node.args === variable)
}
