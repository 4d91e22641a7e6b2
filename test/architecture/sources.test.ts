import { describe, expect, it } from 'vitest'
import { importsOf, packageOf, siblingOf, withoutComments } from './sources.ts'

describe('finding imports', () => {
  it('sees every form, on one line or several', () => {
    const text = [
      `import 'side-effect'`,
      `import a from 'default-one'`,
      `import * as b from 'all'`,
      `import {\n  c,\n  type D,\n} from './several.ts'`,
      `export { e } from '@upgrade-hub/core/testing'`,
      `export * from 'star'`,
      `const f = await import('node:sqlite')`,
    ].join('\n')
    expect(importsOf(text)).toEqual([
      { specifier: 'side-effect', isType: false },
      { specifier: 'default-one', isType: false },
      { specifier: 'all', isType: false },
      { specifier: './several.ts', isType: false },
      { specifier: '@upgrade-hub/core/testing', isType: false },
      { specifier: 'star', isType: false },
      { specifier: 'node:sqlite', isType: false },
    ])
  })

  it('tells imports of types, which cost nothing at run time', () => {
    expect(importsOf(`import type { A } from 'a'\nimport { type B, type C } from 'b'`)).toEqual([
      { specifier: 'a', isType: true },
      { specifier: 'b', isType: true },
    ])
  })

  it('leaves comments out', () => {
    expect(importsOf(`// import 'a'\n/* import 'b' */\n/**\nimport 'c'\n*/`)).toEqual([])
    expect(withoutComments(`const url = 'https://x' // said`)).toBe(`const url = 'https://x' `)
  })

  it('names the package of a specifier', () => {
    expect(packageOf('./x.ts')).toBeUndefined()
    expect(packageOf('@kubernetes/client-node/dist/x.js')).toBe('@kubernetes/client-node')
    expect(packageOf('pino')).toBe('pino')
    expect(siblingOf('@upgrade-hub/core/testing')).toBe('core')
  })
})
