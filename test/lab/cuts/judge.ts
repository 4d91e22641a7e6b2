import { openAttemptStore, openSpool } from '@upgrade-hub/upgrader'
import { type AgentKind, agentProgram } from '@upgrade-hub/upgrader/testing'
import { type Boot, type Cut, CutNode, type CutOptions } from './cut-node.ts'

export const OLD = 'v1.0.0'
export const NEW = 'v1.1.0'
export const ID = 'job-1.1'

/** Power cuts, one after the other, and what came of them. */
export interface Row {
  readonly kind: AgentKind
  readonly cut: Cut
  /** On disk when the power went first. */
  readonly step: string
  readonly cuts: number
  /** `Succeeded/Upgraded`, or `prepared`, where nothing was changed and the hub is asked again. */
  readonly end: string
  /** What breaks an invariant, in words; empty when all hold. */
  readonly broken: readonly string[]
}

export interface Ordeal {
  readonly kind: AgentKind
  readonly cut: Cut
  /** At which call of each boot the power goes again; the last boot is left in peace. */
  readonly again: readonly number[]
}

/** Boots a node with the disk that a cut left, as often as the power goes, and judges what is there in the end. */
export async function endure(options: CutOptions, { kind, cut, again }: Ordeal): Promise<Row> {
  const broken: string[] = []
  let [step, next, cuts] = ['', cut, 0]
  for (;;) {
    const node = await CutNode.after(options, next)
    try {
      cuts += 1
      broken.push(...(await pathProblems(node, kind)))
      step ||= (await openAttemptStore(node.config).attempt(ID))?.step ?? '-'
      const boot = await node.boot(again[cuts - 1])
      if (!boot.cut) return { kind, cut, step, cuts, ...(await judge(node, kind, { boot, broken })) }
      next = boot.cut
    } finally {
      await node.remove()
    }
  }
}

/** I4: at every instant the agent's path is a whole program, the old or the new one. */
async function pathProblems(node: CutNode, kind: AgentKind): Promise<readonly string[]> {
  const program = await node.program()
  const isWhole = program === agentProgram(OLD) || program === agentProgram(NEW, kind)
  return isWhole ? [] : [`I4: the agent is neither the old nor the new program, but ${program.length} bytes`]
}

async function judge(
  node: CutNode,
  kind: AgentKind,
  { boot, broken }: { boot: Boot; broken: readonly string[] },
): Promise<Pick<Row, 'end' | 'broken'>> {
  const view = await openAttemptStore(node.config).attempt(ID)
  const result = view?.result
  const isOver = view?.phase === 'ended'
  const version = (await node.program()) === agentProgram(OLD) ? OLD : NEW
  const spooled = await openSpool(node.config).size()
  const staged = await node.list('etc/upgrade')
  const beside = (await node.list('bin')).filter((name) => name !== 'edgecore')
  const halfMade = await node.halfMade()
  const locks = (await node.list('etc')).filter((name) => name.startsWith('idempotency_record'))
  const rules: readonly [boolean, string][] = [
    [boot.code === 0, `the boot unit ended with ${boot.code}`],
    [boot.isRunning === true, 'I4: no agent runs'],
    [isOver || view?.phase === 'prepared', `it does not come to rest, but is ${view?.phase}`],
    [version === (result?.Outcome === 'Succeeded' ? NEW : OLD), `I5: ${version} after ${result?.Outcome}`],
    [!isOver || result?.RunningVersion === version, `I5: the result says ${result?.RunningVersion}`],
    [spooled === (isOver ? 1 : 0), `I1: ${spooled} results in the spool`],
    [!isOver || staged.length === 0, `I7: staging left: ${staged.join(' ')}`],
    [!isOver || beside.length === 0, `I7: beside the agent: ${beside.join(' ')}`],
    [locks.length === 0, `locks left: ${locks.join(' ')}`],
    [halfMade.length === 0, `left half-made: ${halfMade.join(' ')}`],
  ]
  const end = result ? `${result.Outcome}/${result.Code}` : (view?.phase ?? 'nothing')
  const more = [
    ...(await pathProblems(node, kind)),
    ...rules.filter(([holds]) => !holds).map(([, text]) => text),
  ]
  return { end, broken: [...broken, ...more] }
}

/** The rows as people read them. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ kind, cut, step, cuts, end, broken }) => {
    const before = `${cut.operation} ${cut.path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*')}`
    const verdict = broken.length === 0 ? 'ok' : broken.join('; ')
    return [kind.padEnd(15), step.padEnd(8), before.padEnd(62), String(cuts), end.padEnd(26), verdict].join(
      '  ',
    )
  })
  const head = ['agent'.padEnd(15), 'step'.padEnd(8), 'power cut before'.padEnd(62), 'n', 'end'].join('  ')
  return [head, ...lines.toSorted()].join('\n')
}
