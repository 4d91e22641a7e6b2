import { type BenchReport, printReport } from './report.ts'

/** `npm run bench -- NAME [--flags] [--json FILE]` */
const BENCHES: Readonly<Record<string, () => Promise<{ run(args: string[]): Promise<BenchReport> }>>> = {
  edgehub: () => import('./edgehub/run.ts'),
  decide: () => import('./decide/run.ts'),
  job: () => import('./job/run.ts'),
  'kube-client': () => import('./kube-client/run.ts'),
  pull: () => import('./pull/run.ts'),
}

const [name = '', ...args] = process.argv.slice(2)
const load = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined
if (load) {
  const json = args.indexOf('--json')
  const [, file] = json < 0 ? [] : args.splice(json, 2)
  const bench = await load()
  printReport(await bench.run(args), file)
} else {
  console.error(`usage: npm run bench -- ${Object.keys(BENCHES).join('|')} [--flags] [--json FILE]`)
  process.exitCode = 2
}
