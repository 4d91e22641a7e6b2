import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SortedList } from './sorted-list.ts'

it('a sorted list holds what a sorted set would, in order', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 20 })), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (all) => {
      const list = new SortedList<number>((a, b) => a - b)
      const set = new Set<number>()
      for (const [adds, value] of all) {
        if (adds) list.add(value)
        else list.remove(value)
        if (adds) set.add(value)
        else set.delete(value)
      }
      const expected = [...set].sort((a, b) => a - b)
      expect([...list]).toEqual(expected)
      expect(list.size).toBe(expected.length)
      expect(list.first(3)).toEqual(expected.slice(0, 3))
      expect(list.first(-1)).toEqual([])
    }),
  )
})

it('a long list is as right as a short one', () => {
  const list = new SortedList<number>((a, b) => a - b)
  const count = 1_000
  for (let at = 0; at < count; at++) list.add((at * 7919) % count)
  for (let at = 0; at < count; at += 3) list.remove(at)
  const expected = Array.from({ length: count }, (_, at) => at).filter((at) => at % 3 !== 0)
  expect([...list]).toEqual(expected)
  expect([list.size, list.first(300)]).toEqual([expected.length, expected.slice(0, 300)])
})
