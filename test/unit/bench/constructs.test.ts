import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Answered,
  askAll,
  askPatiently,
  pairedInterval,
  priceRows,
  pricesSection,
  readAnswers,
  shareInterval,
} from '../../../bench/comprehension/ask.ts'
import { isRight, pairsOf } from '../../../bench/comprehension/pairs.ts'
import { CONSTRUCTS } from '../../../src/core/reading/constructs.ts'
import { ChatRefusal } from '../../../src/lab/bench/chat-completion.ts'
import { FULL_RUNS } from '../../support/runs.ts'
import { counters } from '../../support/vocabularies.ts'

const counter = counters.get('o200k_base')
const PAIRS = FULL_RUNS ? 8 : 3

/** Answers to `asked` questions, of which so many are wrong on each side alone, and on both. */
function answers(construct: string, asked: number, wrong: { with: number; without: number }) {
  return Array.from({ length: asked }, (_, seed) =>
    (['with', 'without'] as const).map((side): Answered => {
      const isWrong = side === 'with' ? seed < wrong.with : seed >= asked - wrong.without
      return { construct, seed, question: 0, side, right: !isWrong, given: '' }
    }),
  ).flat()
}

describe('prices of constructs', () => {
  it('are errors more times the tokens of an error, if the interval is above zero', () => {
    const all = [
      ...answers('affix', 200, { with: 20, without: 0 }),
      ...answers('shape', 200, { with: 3, without: 2 }),
      ...answers('template', 200, { with: 0, without: 30 }),
    ]
    const rows = new Map(priceRows(all, 1500).map(row => [row.construct, row]))
    expect(rows.get('affix')).toMatchObject({
      asked: 200,
      right: { with: 180, without: 200 },
      more: 0.1,
      price: 150,
    })
    expect(rows.get('shape')).toMatchObject({ price: 0, more: 0.005 })
    expect(rows.get('template')).toMatchObject({ price: 0, more: -0.15 })
    expect(rows.get('numbered')).toMatchObject({ asked: 0, price: 0, moreInterval: null })
    expect(pricesSection([...rows.values()])).toBe(
      '[reading.prices]\ntemplate = 0\naffix = 150\nshape = 0',
    )
  })

  it('leave out questions that one side alone was asked', () => {
    const half = answers('affix', 100, { with: 50, without: 0 }).filter(
      ({ side }) => side === 'with',
    )
    expect(priceRows(half, 1500).find(({ construct }) => construct === 'affix')?.asked).toBe(0)
  })

  it('have the intervals of the literature', () => {
    // Wilson's interval of 8 of 10, and 0 of 20.
    expect(shareInterval(8, 10)?.low).toBeCloseTo(0.4902, 3)
    expect(shareInterval(8, 10)?.high).toBeCloseTo(0.9433, 3)
    expect(shareInterval(0, 20)?.high).toBeCloseTo(0.1611, 3)
    const { low, high } = pairedInterval(12, 2, 100)
    expect((low + high) / 2).toBeCloseTo(10 / 102, 6)
    expect(low).toBeGreaterThan(0)
    expect(pairedInterval(0, 0, 100).low).toBeLessThan(0)
  })
})

describe.each(CONSTRUCTS)('pairs of %s', construct => {
  const pairs = pairsOf(construct, PAIRS, counter)

  it('differ, are the same in every run, save tokens, and have answers', () => {
    const again = pairsOf(construct, 2, counter)
    expect(again.map(pair => pair.with)).toEqual(pairs.slice(0, 2).map(pair => pair.with))
    for (const { with: written, without, questions } of pairs) {
      expect(counter.count(written.content)).toBeLessThan(counter.count(without))
      expect(questions.length).toBeGreaterThanOrEqual(2)
      for (const { gold } of questions) expect(gold).toMatch(/^(?!undefined|NaN).+$/)
    }
    expect(new Set(pairs.map(pair => pair.without)).size).toBe(pairs.length)
  })
})

describe('a model that is asked', () => {
  const file = () => join(mkdtempSync(join(tmpdir(), 'constructs-')), 'folder', 'model.jsonl')
  const pairs = pairsOf('affix', 4, counter)
  const asked = pairs.reduce((sum, { questions }) => sum + 2 * questions.length, 0)

  it('answers about both sides in a shuffled order, and is not asked again', async () => {
    const path = file()
    const texts: string[] = []
    const ask = async (text: string) => {
      texts.push(text)
      return '1'
    }
    const limits = { maxTokens: 1e9, counter }
    expect(await askAll(pairs, ask, path, limits)).toBe(true)
    expect(texts).toHaveLength(asked)
    const isWith = texts.map(text => pairs.some(pair => pair.with.content === text))
    expect(isWith.filter(Boolean)).toHaveLength(asked / 2)
    const firsts = isWith.filter((_, at) => at % 2 === 0)
    expect(new Set(firsts).size).toBe(2)
    expect(await askAll(pairs, ask, path, limits)).toBe(true)
    expect(texts).toHaveLength(asked)
  })

  it('is asked no more than the tokens allow, and goes on where it stopped', async () => {
    const path = file()
    let count = 0
    const ask = async () => `${count++}`
    const limits = { maxTokens: 4000, counter }
    expect(await askAll(pairs, ask, path, limits)).toBe(false)
    const first = count
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(asked)
    // As if the process had ended in the middle of a line.
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -9))
    expect(readAnswers(path)).toHaveLength(first - 1)
    expect(await askAll(pairs, ask, path, { maxTokens: 1e9, counter })).toBe(true)
    expect(count).toBe(asked + 1)
  })
})

describe('an endpoint that is busy', () => {
  const busy = (status: number, retryAfter: string | null = null) =>
    new ChatRefusal('http://x', status, retryAfter)

  it('is asked again after as long as it says, or twice as long each time', async () => {
    const waits: number[] = []
    const refusals = [busy(429, '7'), busy(503), busy(429), busy(429, '9999')]
    const answer = await askPatiently(
      async () => {
        const refusal = refusals.shift()
        if (refusal !== undefined) throw refusal
        return 'yes'
      },
      async ms => void waits.push(ms),
    )
    expect(answer).toBe('yes')
    expect(waits).toEqual([7000, 2000, 4000, 60_000])
  })

  it('is given up if it refuses for good', async () => {
    let asked = 0
    const refuse = (error: Error) => () => {
      asked++
      return Promise.reject(error)
    }
    const wait = async () => undefined
    await expect(askPatiently(refuse(busy(401)), wait)).rejects.toThrow('answers 401')
    await expect(askPatiently(refuse(new Error('x')), wait)).rejects.toThrow('x')
    expect(asked).toBe(2)
    await expect(askPatiently(refuse(busy(429)), wait)).rejects.toThrow('answers 429')
    expect(asked).toBe(11)
  })
})

it('copies count to the letter, other answers by what they say', () => {
  const question = { text: '', plain: () => '' }
  expect(isRight({ ...question, isExact: true, gold: 'ORD-1' }, ' `ORD-1`\n')).toBe(true)
  expect(isRight({ ...question, isExact: true, gold: 'ORD-1' }, 'ord-1')).toBe(false)
  expect(isRight({ ...question, isExact: false, gold: '1, 2' }, '2,1')).toBe(true)
})
