import { describe, expect, it } from 'vitest'
import { judge, powerOf, resultsFile } from '../../../../bench/trial/results.ts'
import { compareSolved, type Pair, passAll } from '../../../../bench/trial/statistics.ts'
import type { ArmSide, PlayedPair } from '../../../../bench/trial/with-model.ts'
import { FULL_RUNS } from '../../../support/runs.ts'

const ARMS = ['raw', 'raw_again', 'packed'] as const

/** A stream of numbers of a normal distribution. */
function normal(seed: number): () => number {
  let state = seed
  const uniform = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}

/** Pairs of runs whose spread is that of published ones; `packed` costs `factor` of raw. */
function simulate(seed: number, count: number, factor = 1): readonly PlayedPair[] {
  const next = normal(seed)
  const side = (task: number, cheaper: number): ArmSide => {
    const steps = Math.max(1, Math.round(Math.exp(task + 0.3 * next())))
    const cost = 1_000 * steps ** 1.07 * Math.exp(0.08 * next()) * cheaper
    return { solved: next() > -1, steps, cost, without: cost / cheaper }
  }
  return Array.from({ length: count }, (_, at) => {
    const task = 3 + 0.5 * next()
    const sides = ARMS.map(arm => [arm, side(task, arm === 'packed' ? factor : 1)] as const)
    return { seed: at, pass: 0, sides: new Map(sides) }
  })
}

const packedOf = (pairs: readonly PlayedPair[]) =>
  judge(pairs, ARMS).find(({ arm }) => arm === 'packed')!

it('tells equal arms apart in at most 5 of 100 trials', () => {
  const measures = ['steps', 'solved', 'cost_at_equal_steps', 'cost'] as const
  const wrong = { steps: 0, solved: 0, cost_at_equal_steps: 0, cost: 0 }
  const trials = FULL_RUNS ? 2_000 : 400
  for (let seed = 0; seed < trials; seed++) {
    const packed = packedOf(simulate(seed * 15_485_863 + 11, 46))
    for (const measure of measures) {
      const { verdict } = packed[measure]
      if (verdict === 'fewer' || verdict === 'more') wrong[measure]++
    }
  }
  for (const measure of measures) {
    expect(wrong[measure] / trials, measure).toBeLessThanOrEqual(0.05)
  }
})

it('sees 5 % less cost at equal steps with 46 pairs, mostly, and states the bill exactly', () => {
  const seen = Array.from({ length: 200 }, (_, seed) => {
    const packed = packedOf(simulate(seed * 104_729 + 3, 46, 0.95))
    expect(packed.bill!.saved).toBeCloseTo(0.05, 10)
    return packed.cost_at_equal_steps.verdict === 'fewer'
  })
  expect(seen.filter(Boolean).length).toBeGreaterThan(150)
})

it('gives no verdict where the two raw arms are told apart', () => {
  const pairs = simulate(5, 60, 0.5).map(pair => {
    const again = { ...pair.sides.get('raw')!, steps: pair.sides.get('raw')!.steps * 3 }
    return { ...pair, sides: new Map([...pair.sides, ['raw_again', again] as const]) }
  })
  const [again, packed] = judge(pairs, ARMS)
  expect(again).toMatchObject({ steps: { verdict: 'more' }, solved: { verdict: 'not told apart' } })
  const none = { verdict: null }
  expect(packed).toMatchObject({ steps: none, solved: none, cost_at_equal_steps: none, cost: none })
  const [, alone] = judge(simulate(5, 60, 0.5), ARMS)
  expect(alone!.cost_at_equal_steps.verdict).toBe('fewer')
})

describe('exact figures', () => {
  const pairOf = (raw: boolean, arm: boolean): Pair => {
    const side = (solved: boolean) => ({ solved, steps: 1, cost: null })
    return { raw: side(raw), arm: side(arm) }
  }

  it("McNemar's test counts discordant pairs only", () => {
    const pairs = [
      ...Array.from({ length: 9 }, () => pairOf(true, false)),
      pairOf(false, true),
      ...Array.from({ length: 50 }, () => pairOf(true, true)),
    ]
    const { gained, lost, p, verdict } = compareSolved(pairs)
    expect([gained, lost, verdict]).toEqual([1, 9, 'fewer'])
    expect(p).toBeCloseTo((2 * 11) / 1024, 12)
    expect(compareSolved([pairOf(true, true)]).p).toBe(1)
    expect(compareSolved([]).verdict).toBeNull()
  })

  it('pass^3 is the share of triples that all succeed', () => {
    expect(
      passAll(
        [
          [true, true, true],
          [true, false, true],
        ],
        3,
      ),
    ).toBe(0.5)
    expect(passAll([[true, true, true, false]], 3)).toBeCloseTo(1 / 4, 12)
    expect(passAll([[true, true]], 3)).toBeNull()
  })

  it('says what so many pairs can show', () => {
    expect(powerOf(46)).toMatch(/can show: 5 % less cost at equal steps\. .*1100\)/)
    expect(powerOf(10)).toContain('nothing')
    expect(powerOf(2_000)).not.toContain('cannot')
  })

  it('keeps at most 50 KB', () => {
    const played = { excluded: [], isOverBudget: false, spent: 1 }
    const short = resultsFile({}, { ...played, pairs: simulate(1, 100) }, ARMS, '')
    const long = resultsFile({}, { ...played, pairs: simulate(1, 5_000) }, ARMS, '')
    expect(JSON.parse(short).pairs.length).toBe(100)
    expect(long.length).toBeLessThan(50_000)
  })
})
