import { describe, expect, it } from 'vitest'
import { intervalOfSum } from '../../../../src/lab/guard/bootstrap.ts'
import {
  type JudgeOptions,
  judge,
  splitByHash,
  type Verdict,
} from '../../../../src/lab/guard/judge.ts'
import type { Cost } from '../../../../src/lab/guard/plays.ts'
import type { Conversation } from '../../../../src/lab/play/conversation.ts'
import type { Proposal } from '../../../../src/lab/rules/proposal.ts'

const conversations: readonly Conversation[] = Array.from({ length: 60 }, (_, n) => {
  return { id: `c${n}`, results: [] }
})
const key = 'key'
const halves = splitByHash(conversations, key)

let made = 0
function proposal(more: Partial<Proposal> = {}): Proposal {
  return {
    ...{ rule: 'R1', key: ['dedup', `k${++made}`], to: 1, evidence: '' },
    ...{ isTooFew: false, touches: () => true },
    ...more,
  }
}

/** Costs of 1,000 each, in classes a and b, less what proposals save by conversation and class. */
function optionsOf(
  gains: ReadonlyMap<Proposal, (at: number) => { a?: number; b?: number }>,
): JudgeOptions {
  const costOf = (each: Conversation, proposals: readonly Proposal[]): Cost => {
    const saved = { a: 0, b: 0 }
    for (const one of proposals) {
      const { a = 0, b = 0 } = gains.get(one)?.(conversations.indexOf(each)) ?? {}
      saved.a += a
      saved.b += b
    }
    const byClass = new Map([
      ['a', 500 - saved.a],
      ['b', 500 - saved.b],
    ])
    return { total: 1_000 - saved.a - saved.b, byClass }
  }
  return { key, isShadowed: () => false, costOf }
}

function verdictOf(
  gain: (at: number) => { a?: number; b?: number },
  more: Partial<Proposal> = {},
  options: Partial<JudgeOptions> = {},
): Verdict {
  const one = proposal(more)
  const given = { ...optionsOf(new Map([[one, gain]])), ...options }
  return judge(conversations, [one], given).judged[0]!.verdict
}

describe('judge', () => {
  it('applies what saves on the half that it was not chosen by', () => {
    expect(verdictOf(() => ({ a: 10 }))).toBe('applies')
  })

  it('does not apply what saves nothing, or costs', () => {
    expect(verdictOf(() => ({}))).toBe('no effect')
    const isUnseen = (at: number) => halves.unseen.includes(conversations[at]!)
    expect(verdictOf(at => ({ a: isUnseen(at) ? 10 : 0 }))).toBe('no effect')
    expect(verdictOf(() => ({ a: -10 }))).toBe('loses')
  })

  it('does not apply what saves on the chosen half alone', () => {
    const isChosen = (at: number) => halves.chosen.includes(conversations[at]!)
    expect(verdictOf(at => ({ a: isChosen(at) ? 10 : -1 }))).toBe('loses')
    expect(verdictOf(at => ({ a: isChosen(at) ? 10 : 0 }))).not.toBe('applies')
  })

  it('does not apply what one conversation has all savings of', () => {
    const lucky = new Set([halves.chosen[0]!, halves.unseen[0]!])
    expect(verdictOf(at => ({ a: lucky.has(conversations[at]!) ? 400 : 0 }))).toBe('no effect')
  })

  it('does not apply what a class loses more than a hundredth by', () => {
    expect(verdictOf(() => ({ a: 100, b: -4 }))).toBe('applies')
    expect(verdictOf(() => ({ a: 100, b: -6 }))).toBe('loses')
  })

  it('takes out a proposal whose class loses, and keeps the others', () => {
    const [good, bad] = [proposal(), proposal()]
    const options = optionsOf(
      new Map([
        [good, () => ({ a: 50 })],
        [bad, () => ({ a: 50, b: -20 })],
      ]),
    )
    const { judged, together } = judge(conversations, [good, bad], options)
    expect(judged.map(({ verdict }) => verdict)).toEqual(['applies', 'loses'])
    expect(together?.proposals).toEqual([good])
  })

  it('judges proposals together, if they undo one another', () => {
    const [one, other] = [proposal(), proposal()]
    const alone = optionsOf(
      new Map([
        [one, () => ({ a: 50 })],
        [other, () => ({ a: 50 })],
      ]),
    )
    const costOf: JudgeOptions['costOf'] = (each, proposals) =>
      proposals.length === 2 ? { total: 1_010, byClass: new Map() } : alone.costOf(each, proposals)
    const { judged } = judge(conversations, [one, other], { ...alone, costOf })
    expect(judged.map(({ verdict }) => verdict)).toEqual(['loses', 'loses'])
  })

  it('plays only one of two proposals for one key', () => {
    const [small, large] = [proposal({ key: ['k'] }), proposal({ key: ['k'], to: 2 })]
    const options = optionsOf(
      new Map([
        [small, () => ({ a: 5 })],
        [large, () => ({ a: 50 })],
      ]),
    )
    const { together } = judge(conversations, [small, large], options)
    expect(together?.proposals).toEqual([large])
  })

  it.each([
    ['too few', { isTooFew: true }, {}],
    ['shadowed', {}, { isShadowed: () => true }],
  ] as const)('says %s without playing', (verdict, more, options) => {
    const gain = () => {
      throw new Error('played')
    }
    expect(verdictOf(gain, more, options)).toBe(verdict)
  })

  it('says too few for a handful of conversations', () => {
    const one = proposal()
    const few = conversations.slice(0, 6)
    const { judged } = judge(few, [one], optionsOf(new Map([[one, () => ({ a: 10 })]])))
    expect(judged[0]?.verdict).toBe('too few')
  })
})

describe('splitByHash', () => {
  it('is the same for a key, and another for another key', () => {
    expect(splitByHash(conversations, key)).toEqual(halves)
    expect(splitByHash(conversations, 'other').chosen).not.toEqual(halves.chosen)
    expect(halves.chosen.length + halves.unseen.length).toBe(conversations.length)
  })
})

describe('intervalOfSum', () => {
  it('holds the sum of equal values only', () => {
    expect(intervalOfSum([2, 2, 2], 1)).toEqual({ low: 6, high: 6 })
    expect(intervalOfSum([], 1)).toEqual({ low: 0, high: 0 })
  })

  // 400 samples of 40 normal-like values with mean 0: about 5 % of intervals miss it.
  it('misses a mean of 0 about as often as it says', () => {
    let state = 7
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state / 2 ** 31
    }
    let missed = 0
    for (let sample = 0; sample < 100; sample++) {
      const values = Array.from({ length: 40 }, () => random() + random() + random() - 1.5)
      const { low, high } = intervalOfSum(values, sample)
      if (low > 0 || high < 0) missed++
    }
    expect(missed).toBeLessThanOrEqual(15)
  })
})
