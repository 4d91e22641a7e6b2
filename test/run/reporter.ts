import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import type { Report } from './layers.ts'

/** Where the report goes; set by the runner, absent in a vitest that a person started. */
export const REPORT_FILE = 'UPGRADE_HUB_TEST_REPORT'

/** Writes what became of every test; a file or hook that broke before its tests is a failure of its own. */
export default class LayerReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { readonly message?: string }[]): void {
    const file = process.env[REPORT_FILE]
    if (file) writeFileSync(file, JSON.stringify(reportOf(modules, unhandled)))
  }
}

function reportOf(
  modules: readonly TestModule[],
  unhandled: readonly { readonly message?: string }[],
): Report {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()])
  const broken = suites.filter((suite) => suite.errors().length > 0)
  return {
    passed: tests.filter((test) => test.result().state === 'passed').length,
    failed: [
      ...tests.filter((test) => !test.ok() || test.result().state === 'pending').map(titleOf),
      ...broken.map((suite) => (suite.type === 'suite' ? titleOf(suite) : suite.moduleId)),
      ...unhandled.map(({ message }) => `outside of a test: ${message ?? 'unknown error'}`),
    ],
    skipped: tests.flatMap((test) => {
      const result = test.result()
      if (result.state !== 'skipped') return []
      return [{ title: titleOf(test), ...(result.note ? { note: result.note } : {}) }]
    }),
  }
}

function titleOf({ fullName, module }: { fullName: string; module: TestModule }): string {
  return `${module.relativeModuleId}: ${fullName}`
}
