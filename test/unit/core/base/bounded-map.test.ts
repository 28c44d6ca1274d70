import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BoundedMap } from '../../../../src/core/base/bounded-map.ts'

it('holds the entries that were set last, the newest at the end', () => {
  const keys = fc.array(fc.nat({ max: 9 }), { maxLength: 40 })
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 5 }), (set, most) => {
      const map = new BoundedMap<number, number>(most)
      for (const [at, key] of set.entries()) map.set(key, at)
      const newest = [...new Set([...set].reverse())].slice(0, most).reverse()
      expect([...map]).toEqual(newest.map(key => [key, set.lastIndexOf(key)]))
    }),
  )
})
