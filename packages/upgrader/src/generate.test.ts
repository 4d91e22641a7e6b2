import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { renderSteps, STEPS_PAGE } from './generate.ts'

describe('docs/node-steps.md', () => {
  it('says what the machine does', () => {
    expect(readFileSync(STEPS_PAGE, 'utf8'), 'run `npm run gen` and commit the result').toBe(renderSteps())
  })
})
