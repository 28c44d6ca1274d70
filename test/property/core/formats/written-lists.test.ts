import fc from 'fast-check'
import { expect, it } from 'vitest'
import { joinKeyLists, type KeyList } from '../../../../src/core/formats/json/tree/key-lists.ts'
import { createPricer } from '../../../../src/core/formats/json/tree/pricer.ts'
import { writtenLists } from '../../../../src/core/formats/json/tree/written-lists.ts'
import { ObjectValue } from '../../../../src/core/json/value.ts'
import { fewRuns } from '../../../support/short-runs.ts'

const KEYS = ['id', 'name', 'state', 'created', 'kind', 'size', 'owner']

/** Lists in the order of what they may save. */
const arbitraryLists = fc
  .uniqueArray(fc.subarray(KEYS, { minLength: 2 }), { selector: keys => keys.join(), maxLength: 9 })
  .chain(lists =>
    fc.tuple(fc.constant(lists), fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 9 })),
  )
  .map(([lists, counts]) =>
    lists
      .map((keys, i): KeyList => {
        const object = new ObjectValue(
          keys,
          keys.map(() => 1),
        )
        return { keys, objects: Array.from({ length: counts[i]! }, () => object) }
      })
      .sort(
        (a, b) => b.keys.length * (b.objects.length - 1) - a.keys.length * (a.objects.length - 1),
      ),
  )

it('leaves out only lists that the text has once, or that join no others', () => {
  let few = 0
  const text = fc.array(fc.constantFrom(...KEYS, 'identity', 'x'), { maxLength: 30 })
  fc.assert(
    fc.property(arbitraryLists, text, (lists, words) => {
      const plain = words.join(':1\n')
      const pricer = createPricer(undefined)
      const written = writtenLists(
        lists,
        { text: plain, tokens: () => pricer.tokens(plain) },
        pricer,
      )
      if (written.length === 0) return
      const all = lists.filter(({ keys }) => {
        const longest = keys.reduce((long, key) => (key.length > long.length ? key : long))
        return words.filter(word => word.endsWith(longest)).length > 1
      })
      if (written.length < all.length) few++
      expect(joinKeyLists(written, 26)).toEqual(joinKeyLists(all, 26))
    }),
    // Lists that may be left out are rare: some six in a thousand runs have one.
    { numRuns: fewRuns(30_000, 1_000) },
  )
  expect(few).toBeGreaterThan(0)
})
