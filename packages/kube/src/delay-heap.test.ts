import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DelayHeap } from './delay-heap.ts'

describe('the delay heap', () => {
  it('gives keys in the order of their earliest instants, each once', () => {
    const additions = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.nat(50)))
    fc.assert(
      fc.property(additions, fc.nat(50), (added, now) => {
        const heap = new DelayHeap()
        const earliest = new Map<string, number>()
        for (const [key, at] of added) {
          heap.add(key, at)
          earliest.set(key, Math.min(at, earliest.get(key) ?? at))
        }
        const due = [...heap.takeDue(now)]
        const expected = [...earliest].filter(([, at]) => at <= now).map(([key]) => key)
        expect(due.toSorted()).toEqual(expected.toSorted())
        const times = due.map((key) => earliest.get(key) ?? 0)
        expect(times).toEqual(times.toSorted((a, b) => a - b))
        expect(heap.size).toBe(earliest.size - due.length)
        const rest = [...earliest.values()].filter((at) => at > now)
        expect(heap.nextAt()).toBe(rest.length > 0 ? Math.min(...rest) : undefined)
      }),
    )
  })
})
