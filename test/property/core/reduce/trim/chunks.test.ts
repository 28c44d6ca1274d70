import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunkItems } from '../../../../../src/core/reduce/trim/chunk-index.ts'
import { runs } from '../../../../support/runs.ts'

/** More in the long run. */
const RUNS = runs(2_000)

const list = fc.array(fc.tuple(fc.nat(400), fc.boolean()), { maxLength: 60 }).map(items => ({
  tokens: items.map(([tokens]) => tokens),
  first: items.flatMap(([, isFirst], index) => (isFirst ? [index] : [])),
}))

describe('chunks', () => {
  it('have every item exactly once, whatever the first one holds', () => {
    fc.assert(
      fc.property(list, fc.nat(2_000), ({ tokens, first }, budget) => {
        const chunks = chunkItems(tokens, first, budget)
        expect(chunks[0]).toEqual(first)
        const all = chunks.flat()
        expect(all.toSorted((a, b) => a - b)).toEqual(tokens.map((_, index) => index))
        for (const chunk of chunks.slice(1)) {
          expect(chunk.length).toBeGreaterThan(0)
          expect(chunk).toEqual(chunk.toSorted((a, b) => a - b))
        }
        expect(chunks.slice(1).flat()).toEqual(all.slice(first.length))
      }),
      { numRuns: RUNS },
    )
  })

  it('fit the budget by the prices of their items, but for items that never do', () => {
    fc.assert(
      fc.property(list, fc.nat(2_000), ({ tokens, first }, budget) => {
        for (const chunk of chunkItems(tokens, first, budget).slice(1)) {
          const cost = chunk.reduce((sum, item) => sum + tokens[item]!, 0)
          if (chunk.filter(item => tokens[item]! > 0).length > 1) {
            expect(cost).toBeLessThanOrEqual(budget)
          }
        }
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    )
  })
})
