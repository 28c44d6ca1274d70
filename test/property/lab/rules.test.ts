import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SHAPES } from '../../../src/core/telemetry/event.ts'
import { medianShare } from '../../../src/lab/study/counts.ts'
import { CONDITIONS, namesOf } from '../../../src/lab/study/predicates.ts'
import { type Alike, mineRules, type Rule } from '../../../src/lab/study/rules.ts'
import { runs } from '../../support/runs.ts'

const group: fc.Arbitrary<Alike> = fc
  .record({
    shape: fc.constantFrom(...SHAPES.slice(0, 3)),
    conditions: fc.nat(2 ** 10 - 1),
    notation: fc.constantFrom(null, 'a@1', 'b@1'),
    results: fc.integer({ min: 1, max: 40 }),
    each: fc.integer({ min: 1, max: 100 }),
  })
  .map(({ each, results, ...kind }) => ({
    ...kind,
    results,
    saved_tokens: kind.notation === null ? 0 : each * results,
    shares: new Map([[kind.notation === null ? 0 : each, results]]),
  }))

const groups = fc.array(group, { maxLength: 25 })

function meets(rule: Pick<Rule, 'shape' | 'conditions'>, { shape, conditions }: Alike): boolean {
  const held = new Set(namesOf(conditions))
  return shape === rule.shape && rule.conditions.every(name => held.has(name))
}

const sum = (all: readonly Alike[], of: 'results' | 'saved_tokens') =>
  all.reduce((total, each) => total + each[of], 0)

describe('mineRules', () => {
  it('says of each rule what a plain count says', () => {
    fc.assert(
      fc.property(groups, all => {
        let rest = all
        let covered = 0
        for (const rule of mineRules(all)) {
          const met = all.filter(each => meets(rule, each))
          const sent = met.filter(each => each.notation === rule.notation)
          expect(rule.support).toBe(sum(met, 'results'))
          expect(rule.support).toBeGreaterThanOrEqual(20)
          expect(rule.confidence).toBeCloseTo(sum(sent, 'results') / rule.support, 12)
          expect(rule.confidence).toBeGreaterThanOrEqual(0.5)
          expect(rule.saved_tokens).toBe(sum(sent, 'saved_tokens'))
          const shares = sent.flatMap(each =>
            Array<number>(each.results).fill([...each.shares.keys()][0]!),
          )
          shares.sort((a, b) => a - b)
          expect(rule.median_saving).toBeCloseTo(
            shares[Math.ceil(shares.length / 2) - 1]! / 100,
            12,
          )
          const isSent = (each: Alike) => each.notation === rule.notation
          const gained = rest.filter(each => meets(rule, each) && isSent(each))
          rest = rest.filter(each => !meets(rule, each))
          covered += sum(gained, 'saved_tokens') / sum(all, 'saved_tokens')
          expect(rule.covered).toBeCloseTo(covered, 12)
        }
      }),
      { numRuns: runs(60) },
    )
  })

  it('finds a rule first that no single predicate of one condition beats', () => {
    fc.assert(
      fc.property(groups, all => {
        const [first] = mineRules(all)
        const gain = first === undefined ? 0 : first.saved_tokens
        for (const shape of SHAPES.slice(0, 3)) {
          for (const conditions of [[], ...CONDITIONS.map(({ name }) => [name])]) {
            const met = all.filter(each => meets({ shape, conditions }, each))
            const support = sum(met, 'results')
            for (const notation of ['a@1', 'b@1']) {
              const sent = met.filter(each => each.notation === notation)
              if (support < 20 || sum(sent, 'results') < 0.5 * support) continue
              expect(gain).toBeGreaterThanOrEqual(sum(sent, 'saved_tokens'))
            }
          }
        }
      }),
      { numRuns: runs(60) },
    )
  })

  it('does not depend on the order of the groups', () => {
    fc.assert(
      fc.property(groups, all => {
        expect(mineRules([...all].reverse())).toEqual(mineRules(all))
      }),
      { numRuns: runs(40) },
    )
  })
})

describe('medianShare', () => {
  it('is the lower median of all that was counted', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100), { minLength: 1 }), percents => {
        const counts = new Map<number, number>()
        for (const each of percents) counts.set(each, (counts.get(each) ?? 0) + 1)
        const sorted = [...percents].sort((a, b) => a - b)
        expect(medianShare(counts)).toBe(sorted[Math.ceil(sorted.length / 2) - 1]! / 100)
      }),
    )
  })
})
