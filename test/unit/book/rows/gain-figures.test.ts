import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Part, withRest } from '../../../../src/book/rows/gain-figures.ts'
import { runs } from '../../../support/runs.ts'

const COUNTS = ['results', 'before', 'after', 'omitted', 'fetched', 'requests'] as const
const amount = fc.nat(1_000)
const pair = fc.option(fc.record({ without: amount, billed: amount }))
const part: fc.Arbitrary<Part> = fc.record({
  name: fc.string(),
  results: amount,
  before: amount,
  after: amount,
  omitted: amount,
  fetched: amount,
  requests: amount,
  prefix_changes: amount,
  bill: pair,
  money: pair,
})

/** All figures of parts in sum. */
function figuresOf(parts: readonly Part[]): readonly number[] {
  const sum = (of: (each: Part) => number) => parts.reduce((all, each) => all + of(each), 0)
  return [
    ...[...COUNTS, 'prefix_changes' as const].map(name => sum(each => each[name])),
    ...(['bill', 'money'] as const).flatMap(name => [
      sum(each => each[name]?.without ?? 0),
      sum(each => each[name]?.billed ?? 0),
    ]),
  ]
}

it('parts beyond the first ones are one part, and no figure changes in sum', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.integer({ min: 1, max: 6 }), (all, most) => {
      const shown = withRest(all, most)
      expect(shown).toHaveLength(Math.min(all.length, most))
      expect(figuresOf(shown)).toEqual(figuresOf(all))
      if (all.length > most) expect(shown.at(-1)?.name).toBe(`(${all.length - most + 1} others)`)
    }),
    { numRuns: runs(200) },
  )
})
