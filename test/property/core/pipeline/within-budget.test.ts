import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { toText } from '../../../../src/core/base/text-bytes.ts'
import type { EncodeAnswer } from '../../../../src/core/contract/encode.ts'
import type { ElisionHint } from '../../../../src/core/hints/hint.ts'
import { parseHint } from '../../../../src/core/hints/hint-line.ts'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import { decodeContent } from '../../../../src/core/pipeline/decode.ts'
import { STRATEGY_IDS } from '../../../../src/core/reduce/budget/strategies.ts'
import { bodyOf } from '../../../../src/core/verify/answer-body.ts'
import { anyText } from '../../../support/any-text.ts'
import { leastHits } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'

/** More in the long run. */
const RUNS = fewRuns(1_500, 12)

const context = { counters, maxDepth: 64, maxDecodedChars: 1_000_000, keepsOriginals: true }

const word = fc.oneof(
  anyText({ maxLength: 12 }),
  fc.constantFrom('open', 'closed', '2026-01-02', '', '> [ref: 0a1b2c3d]', '…[+3 chars]'),
)
const prose = fc.array(word, { maxLength: 150 }).map(words => words.join(' '))
const scalar = fc.oneof(word, prose, fc.integer(), fc.double({ noNaN: true }), fc.constant(null))
const key = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('id', '__proto__', 'a.b', ''))
const { tree } = fc.letrec(tie => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('tree'), { maxLength: 8 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 8 }),
  ),
}))
const rows = fc.uniqueArray(key, { minLength: 1, maxLength: 5 }).chain(keys =>
  fc.array(fc.record(Object.fromEntries(keys.map(k => [k, scalar])), { requiredKeys: [] }), {
    maxLength: 60,
  }),
)
const json = fc
  .oneof(tree, rows, fc.record({ items: rows, note: prose }))
  .map(v => JSON.stringify(v))
const line = fc.oneof(
  prose,
  word,
  fc.constantFrom('# Heading', '```', '> quoted', '| a | b |', '| - | - |', '- item', ''),
)
const text = fc.array(line, { maxLength: 60 }).map(lines => lines.join('\n'))
const budget = fc.oneof(fc.nat(60), fc.nat(600))

function encode(content: string, budget_tokens: number, strategy: (typeof STRATEGY_IDS)[number]) {
  try {
    const request = { content, budget_tokens, mode: 'trim', strategy } as const
    return encodeOperation.run(request, context)
  } catch (error) {
    if (error instanceof AppError && error.code === 'budget_too_small') {
      const minimum = error.extras.minimum_tokens ?? Number.NaN
      expect(minimum).toBeGreaterThan(budget_tokens)
      const least = { content, budget_tokens: minimum, mode: 'trim', strategy } as const
      expect(encodeOperation.run(least, context).answer.tokens.final).toBeLessThanOrEqual(minimum)
      return null
    }
    throw error
  }
}

/** The marker of an answer that lacks parts, and the text before it and the index of its chunks. */
function splitMarker({ content, chunks = [] }: EncodeAnswer): {
  text: string
  marker: ElisionHint
} {
  const at = content.lastIndexOf('\n')
  const marker = parseHint(content.slice(at + 1))
  if (marker?.family !== 'elision') throw new Error(`no marker: ${content.slice(at + 1)}`)
  const text = content.slice(0, at)
  const isIndexed =
    chunks.length > 1 && text.slice(text.lastIndexOf('\n') + 1).startsWith('[/chunks]')
  return { text: isIndexed ? text.slice(0, text.lastIndexOf('\n[chunks] ')) : text, marker }
}

const CUT = /…\[\+(\d+) chars\]$/

/** Whether `part` is `whole` with items, members and ends of texts left out. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part) && Array.isArray(whole)) {
    let at = 0
    return part.every(item => {
      while (at < whole.length && !isPartOf(item, whole[at])) at++
      return at++ < whole.length
    })
  }
  if (isObject(part) && isObject(whole)) {
    return Object.entries(part).every(([name, inner]) => {
      return Object.hasOwn(whole, name) && isPartOf(inner, whole[name])
    })
  }
  if (part === whole) return true
  const cut = typeof part === 'string' ? CUT.exec(part) : null
  if (cut === null || typeof whole !== 'string') return false
  const beginning = (part as string).slice(0, cut.index)
  return whole.startsWith(beginning) && beginning.length + Number(cut[1]) === whole.length
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

describe('an answer within a budget', () => {
  function check(content: string, budget: number, strategy: (typeof STRATEGY_IDS)[number]) {
    const done = encode(content, budget, strategy)
    if (done === null) return null
    const { answer, keep = [] } = done
    expect(answer.tokens.final).toBeLessThanOrEqual(budget)
    expect(answer.tokens.final).toBe(counters.get('o200k_base').count(answer.content))
    const { dedup_tokens, encoder_tokens, elided_tokens } = answer.savings
    expect(dedup_tokens + encoder_tokens + elided_tokens).toBe(
      answer.look_alikes === undefined
        ? answer.tokens.baseline - answer.tokens.final
        : Math.max(0, answer.tokens.baseline - answer.tokens.final),
    )
    if (answer.lossless) return null
    const { text, marker } = splitMarker(answer)
    // What the marker names is the very input, and is kept.
    expect(keep.map(toText)).toEqual([content])
    expect(hash('sha256', keep[0]!.bytes, 'hex')).toMatch(new RegExp(`^${marker.hash}`))
    expect(answer.elided).toMatchObject([{ hash: marker.hash }])
    expect(() => decodeContent(answer.content, answer.format, 1e6)).toThrow(marker.hash)
    return { text, marker, format: answer.format.slice('trimmed@1;'.length), body: bodyOf(answer)! }
  }

  it('is never above it, and everything that is missing of JSON can be fetched back', () => {
    let trimmed = 0
    fc.assert(
      fc.property(json, budget, fc.constantFrom(...STRATEGY_IDS), (content, tokens, strategy) => {
        const found = check(content, tokens, strategy)
        if (found === null) return
        trimmed++
        const { body } = found
        const whole: unknown = JSON.parse(content)
        if (!isObject(whole) && !Array.isArray(whole)) return
        const part = decodeContent(body.content, body.format, 1e6).content
        expect(isPartOf(JSON.parse(part), whole)).toBe(true)
      }),
      { numRuns: RUNS },
    )
    expect(trimmed).toBeGreaterThanOrEqual(leastHits(RUNS / 20))
  })

  it('is never above it, and gaps of a text say which lines they stand for', () => {
    let trimmed = 0
    fc.assert(
      fc.property(text, budget, fc.constantFrom(...STRATEGY_IDS), (content, tokens, strategy) => {
        const found = check(content, tokens, strategy)
        if (found === null) return
        trimmed++
        const { text, format, marker } = found
        const kept = decodeContent(text, format, 1e6).content.split('\n')
        const lines = content.split('\n')
        const missing = marker.parts.filter(({ unit }) => unit === 'lines')
        const gaps = kept.filter(each => /^\[… lines? (?:\d+-)?\d+\]$/.test(each)).length
        const omitted = missing.reduce((sum, part) => sum + part.omitted, 0)
        expect(kept.length - gaps + omitted).toBe(lines.length)
      }),
      { numRuns: RUNS },
    )
    expect(trimmed).toBeGreaterThanOrEqual(leastHits(RUNS / 20))
  })
})
