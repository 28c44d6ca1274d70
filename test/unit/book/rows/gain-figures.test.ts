import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  change,
  isoDay,
  mondayOf,
  money,
  shortDay,
  tokens,
} from '../../../../src/book/rows/amounts.ts'
import { figuresOf, type Part, withRest } from '../../../../src/book/rows/gain-figures.ts'
import type { GainAnswer, GainPart } from '../../../../src/core/contract/gain.ts'
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
function sumsOf(parts: readonly Part[]): readonly number[] {
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
      expect(sumsOf(shown)).toEqual(sumsOf(all))
      if (all.length > most) expect(shown.at(-1)?.name).toBe(`(${all.length - most + 1} others)`)
    }),
    { numRuns: runs(200) },
  )
})

const COLUMNS = {
  ...{ name: '', currency: '', results: 0, before: 0, referred: 0, encoded: 0, omitted: 0 },
  ...{ fetched: 0, requests: 0, unknown: 0, prefix_changes: 0 },
  ...{ billed: 0, without: 0, billed_money: 0, without_money: 0 },
}
const NO_PARTS = { day: [], tenant: [], way: [], project: [], agent: [], model: [], tool: [] }

/** The figures of one ledger for each part. */
function gainOf(by: Partial<Record<keyof GainAnswer['by'], readonly Partial<GainPart>[]>>) {
  const all = Object.entries({ ...NO_PARTS, ...by }).map(([name, parts]) => [
    name,
    parts.map(part => ({ ...COLUMNS, ...part })),
  ])
  const answer = { ledger: 'l', from: 0, to: 9, by: Object.fromEntries(all) } as GainAnswer
  return figuresOf([answer], 0, 9)
}

describe('figures of a part', () => {
  it.each<[string, Partial<GainPart>, Part['bill'], Part['money']]>([
    ['answers that said nothing', { requests: 2, unknown: 2 }, null, null],
    ['one that said something', { requests: 2, unknown: 1 }, { without: 0, billed: 0 }, null],
    ['what a tool saved', { without: 5 }, { without: 5, billed: 0 }, null],
    ['a round of ours', { billed: 5 }, { without: 0, billed: 5 }, null],
    ['money that a tool saved', { without_money: 5 }, null, { without: 5, billed: 0 }],
    ['money for a round of ours', { billed_money: 5 }, null, { without: 0, billed: 5 }],
    ['other money', { currency: 'EUR', without_money: 5, billed_money: 5 }, null, null],
  ])('have a bill, and money in the currency of most: %s', (_, sums, bill, money) => {
    const model = [
      { currency: 'EUR', without_money: 8 },
      { currency: '', without_money: 99 },
      { currency: 'USD', without_money: 9 },
    ]
    const { currency, total } = gainOf({ day: [{ currency: 'USD', ...sums }], model })
    expect([currency, total.bill, total.money]).toEqual(['USD', bill, money])
  })

  it('have tokens as they were sent, all of one name together', () => {
    const part = { before: 100, referred: 10, encoded: 20, omitted: 5 }
    const { by, total } = gainOf({
      day: [{ ...part, name: '3' }, { ...part, name: '4' }, { name: '2' }],
    })
    expect(total).toMatchObject({ name: 'all', before: 200, after: 130, omitted: 10 })
    expect(by.day.map(({ name }) => name)).toEqual(['1970-01-03', '1970-01-04', '1970-01-05'])
    expect(by.week.map(each => [each.name, each.after])).toEqual([
      ['1969-12-29', 65],
      ['1970-01-05', 65],
    ])
    expect(by.month).toMatchObject([{ name: '1970-01', after: 130 }])
    expect(gainOf({})).toMatchObject({ total: { name: 'all', bill: null }, currency: null })
  })

  it('come by most tokens, and then by the largest bill', () => {
    const parts = [
      ...[{ name: 'bill', without: 9e8 }, { name: 'none' }, { name: 'tokens', before: 1 }],
      { name: 'less', without: 8e8 },
    ]
    const { project, agent, model, tool, way, team } = gainOf({
      ...{ project: parts, agent: parts, model: parts, tool: parts, way: parts, tenant: parts },
    }).by
    for (const each of [project, agent, model, tool, way, team]) {
      expect(each.map(({ name }) => name)).toEqual(['tokens', 'bill', 'less', 'none'])
    }
  })

  it('name each model with a bill and no price once', () => {
    const priced = { name: 'a', currency: 'USD', billed: 5, billed_money: 1, without_money: 1 }
    const other = { ...priced, name: 'b', currency: 'EUR', without_money: 0.5 }
    const none = { name: 'c', billed: 5 }
    const model = [priced, other, none, none, { name: 'd' }, { name: '', billed: 5 }]
    expect(gainOf({ model }).unpriced).toEqual(['b', 'c'])
  })
})
