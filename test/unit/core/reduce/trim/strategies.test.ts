import { describe, expect, it } from 'vitest'
import { STRATEGIES, type StrategyId } from '../../../../../src/core/reduce/budget/strategies.ts'
import { strategyFor } from '../../../../../src/core/reduce/trim/resolve-strategy.ts'
import {
  type ItemFacts,
  weighItems,
  weighPlaces,
} from '../../../../../src/core/reduce/trim/strategies/strategy.ts'

const facts = (each: Partial<ItemFacts>[]): ItemFacts[] =>
  each.map(more => ({ tokens: 10, ...more }))
const plain = (count: number) => facts(Array.from({ length: count }, () => ({})))
const weigh = (id: StrategyId, items: readonly ItemFacts[]) => weighItems(STRATEGIES[id], items)
const round = (numbers: readonly number[]) => numbers.map(each => Math.round(each * 100) / 100)

describe('what an item is worth', () => {
  it('by its number: the first 1, the last 0.3', () => {
    const all = weigh('element_count', plain(20))
    expect(all[0]).toBe(1)
    expect(all[19]).toBeCloseTo(0.3, 10)
    expect(weigh('element_count', plain(1))).toEqual([1])
  })

  it('by comments behind it: the oldest of 50 has 8 % of the newest', () => {
    const all = weigh('cascading', plain(50))
    expect(all[49]).toBe(1)
    expect(all[0]).toBeCloseTo(0.95 ** 49, 10)
    expect(weigh('cascading', plain(5_000)).every(each => each > 0)).toBe(true)
  })

  it.each([
    ['Cargo.lock', 0.05],
    ['web/package-lock.json', 0.05],
    ['go.sum', 0.05],
    ['dist/app.min.js', 0.1],
    ['db/MIGRATIONS/001.sql', 0.6],
    ['db/schema_test.rb', 0.6],
    ['src/a.spec.ts', 0.7],
    ['src/a.ts', 1],
    ['src/blocks.ts', 1],
  ])('by its file: %s', (path, weight) => {
    const [worth] = weighPlaces(STRATEGIES.size_proportional, facts([{ path }]))
    expect(worth).toBeCloseTo(weight, 2)
  })

  it('an item is worth its size', () => {
    const items = facts([{ tokens: 10 }, { tokens: 30 }])
    expect(round(weigh('size_proportional', items))).toEqual([0.5, 1.5])
    // Where parts are worth their tokens anyway, size does not count twice.
    expect(round(weighPlaces(STRATEGIES.size_proportional, items))).toEqual([1, 1])
  })

  it('by whether it is settled', () => {
    const items = facts([{ resolved: true }, { resolved: false }, {}])
    expect(round(weigh('thread_level', items))).toEqual([0.3, 1, 1])
  })

  it('by what went wrong, before both ends', () => {
    const items = plain(100).map((each, i) => (i === 40 ? { ...each, isError: true } : each))
    const all = weigh('head_tail', items)
    expect(all.indexOf(Math.max(...all))).toBe(40)
    expect(all[40]).toBeGreaterThan(3 * weigh('head_tail', plain(100))[40]!)
  })

  it('by place, activity and recency', () => {
    const day = 86_400_000
    const items = facts([
      { activity: 0, date: 0 },
      { activity: 10, date: 60 * day },
      { activity: 5, date: 30 * day },
    ])
    // Recency 1/3, 1 and 1/2, scaled: 0, 1, 1/4.
    expect(round(weigh('priority', items))).toEqual(
      round([0.4, 0.4 * (2 / 3) + 0.35 + 0.25, 0.4 / 3 + 0.35 * 0.5 + 0.25 * 0.25]),
    )
  })

  it('by place alone where nothing else is known, or the same of all', () => {
    const place = [1, 2 / 3, 1 / 3]
    expect(round(weigh('priority', plain(3)))).toEqual(round(place))
    const same = facts([{ activity: 4 }, { activity: 4 }, { activity: 4 }])
    expect(round(weigh('priority', same))).toEqual(round(place))
    const [, second] = weigh('priority', facts([{ activity: 0 }, {}, { activity: 9 }]))
    expect(second).toBeCloseTo(2 / 3, 10)
  })

  it('reads no clock: dates of another year give the same', () => {
    const at = (start: number) =>
      facts([{ date: start }, { date: start + 9e9 }, { date: start + 1e9 }])
    expect(weigh('priority', at(0))).toEqual(weigh('priority', at(1.8e12)))
  })
})

describe('the strategy for a tool', () => {
  it.each([
    ['get_issues', 'priority'],
    ['cloud__get_issues', 'priority'],
    ['mcp__cloud__get_merge_request_diffs', 'size_proportional'],
    ['a__b__c__get_job_logs', 'head_tail'],
    ['get_issue_comments', 'cascading'],
    ['get_merge_request_discussions', 'thread_level'],
    ['get_users', 'default'],
    ['my_get_issues', undefined],
    ['get_issues__', undefined],
    ['constructor', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const)('%s: %s', (tool, expected) => {
    expect(strategyFor(tool)).toBe(expected)
  })
})
