import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  change,
  isoDay,
  mondayOf,
  money,
  shortDay,
  tokens,
} from '../../../../src/book/rows/amounts.ts'
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

it('amounts are short, with a minus sign, and no zero has one', () => {
  const counts = [9_999, -9_999.6, 999_499, 999_500, 999_949_999, 999_950_000, -2e9]
  expect(counts.map(tokens).join()).toBe('9,999,−10 k,999 k,1.0 M,999.9 M,1.0 G,−2.0 G')
  const changes = [change(0, 0), change(0, 5), change(9_999, 9_998), change(10, 8), change(10, 12)]
  expect(changes.join()).toBe('–,+100 %,0.0 %,−20.0 %,+20.0 %')
  const dollars = [5.09, -0.4, 0.01, 0.00123, -1e-9, -2_500_000].map(each => money(each, 'USD'))
  expect(dollars.join()).toBe('$5.09,−$0.40,$0.01,$0.0012,$0.000000,−$2.50 M')
  expect([money(3.2, 'EUR'), money(0, 'EUR')].join()).toBe('3.20 EUR,0.00 EUR')
  expect([isoDay(3), shortDay(3), mondayOf(3), mondayOf(4)].join()).toBe('1970-01-04,4 Jan,-3,4')
})

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
