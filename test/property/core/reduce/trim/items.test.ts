import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../../src/core/base/errors.ts'
import type { EncodeAnswer, EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { decodeContent } from '../../../../../src/core/pipeline/decode.ts'
import { STRATEGY_IDS } from '../../../../../src/core/reduce/budget/strategies.ts'
import { LEVELS } from '../../../../../src/core/reduce/trim/levels.ts'
import { bodyOf } from '../../../../../src/core/verify/answer-body.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { anyText } from '../../../../support/any-text.ts'
import { leastHits } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'
import { counters } from '../../../../support/vocabularies.ts'

const RUNS = fewRuns(24, 3)
/** A long run asks for all chunks, one by one. */
const MOST_FETCHED = RUNS > 24 ? Number.POSITIVE_INFINITY : 3

const context = { counters, maxDepth: 64, maxDecodedChars: 1_000_000, keepsOriginals: true }
const counter = counters.get('o200k_base')

const word = fc.oneof(
  anyText({ maxLength: 8 }),
  fc.constantFrom('open', 'closed', 'ERROR', '你好', 'שלום', '[chunks] 1/2 items in 2 chunks:'),
)
const prose = fc.array(word, { maxLength: 60 }).map(words => words.join(' '))
const comment = fc.record({ author: word, body: prose }, { requiredKeys: ['body'] })
const item = fc.record(
  {
    title: prose,
    state: fc.constantFrom('open', 'closed'),
    body: prose,
    updated_at: fc.constantFrom('2026-01-02T03:04:05Z', '2025-06-07', 'soon'),
    comments: fc.oneof(fc.nat(9), fc.array(comment, { maxLength: 4 })),
    path: fc.constantFrom('src/a.ts', 'yarn.lock', 'test/b.ts'),
    patch: prose,
    user: fc.record({ login: word, url: word }),
    extra: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: [] },
)
const items = fc
  .array(item, { minLength: 2, maxLength: 30 })
  .map(list => list.map((fields, id) => ({ id, ...fields })))
const json = fc
  .oneof(items, fc.record({ total: fc.nat(), data: items, note: prose }))
  .map(value => JSON.stringify(value))
const file = fc.tuple(fc.constantFrom('src/a.ts', 'yarn.lock'), fc.array(prose, { maxLength: 6 }))
const diff = fc.array(file, { minLength: 2, maxLength: 8 }).map(files =>
  files
    .map(([path, lines]) => {
      const added = lines.map(line => `+${line.replaceAll(/[\r\n]/g, ' ')}`)
      const head = [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`]
      return [...head, `@@ -1,0 +1,${added.length} @@`, ...added].join('\n')
    })
    .join('\n'),
)
const eol = fc.constantFrom('\n', '\r\n')
const log = fc
  .tuple(fc.array(prose, { minLength: 8, maxLength: 40 }), eol)
  .map(([lines, end]) =>
    lines.map((line, i) => `2026-01-02 03:04:${String(i).padStart(2, '0')} ${line}`).join(end),
  )
const markdown = fc
  .array(fc.tuple(prose, fc.constantFrom('', '> quoted', '```\ncode\n```')), {
    minLength: 2,
    maxLength: 12,
  })
  .map(parts => parts.map(([text, more], i) => `## Part ${i}\n\n${text}\n${more}`).join('\n'))

const strategy = fc.constantFrom(...STRATEGY_IDS)
const level = fc.constantFrom(undefined, ...LEVELS)
const budget = fc.integer({ min: 60, max: 700 })

type Part = Partial<EncodeRequest>

/**
 * The answer, which is never above the budget, or `null` if nothing fits and the least that
 * would is true.
 */
function trim(content: string, budget_tokens: number, part: Part): EncodeAnswer | null {
  try {
    const { answer, keep = [] } = encodeOperation.run(
      { content, mode: 'trim', budget_tokens, ...part },
      context,
    )
    expect(answer.tokens.final).toBeLessThanOrEqual(budget_tokens)
    expect(answer.tokens.final).toBe(counter.count(answer.content))
    if (!answer.lossless) {
      const id = hash('sha256', content, 'hex').slice(0, 24)
      expect(answer.elided).toMatchObject([{ hash: id }])
      expect(answer.content).toContain(id)
      expect(keep).toHaveLength(1)
      const body = bodyOf(answer)!
      // What is left is written in the format that the answer says.
      decodeContent(body.content, body.format, 1e6)
    }
    return answer
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'budget_too_small') throw error
    const minimum = error.extras.minimum_tokens ?? Number.NaN
    expect(minimum).toBeGreaterThan(budget_tokens)
    if (part.chunk === undefined) {
      const least = { content, mode: 'trim', budget_tokens: minimum, ...part } as const
      expect(encodeOperation.run(least, context).answer.tokens.final).toBeLessThanOrEqual(minimum)
    }
    return null
  }
}

function itemsOf(chunks: EncodeAnswer['chunks'] = []): readonly (readonly number[])[] {
  return chunks.map(({ items: runs }) =>
    runs.flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at)),
  )
}

/**
 * Checks that the chunks of a content are all of its items, each in one, the same whichever is
 * asked for.
 */
function checkChunks(content: string, tokens: number, part: Part): number {
  const first = trim(content, tokens, part)
  if (first?.chunks === undefined) return 0
  const chunks = itemsOf(first.chunks)
  const all = chunks.flat().toSorted((a, b) => a - b)
  expect(all).toEqual(all.map((_, index) => index))
  for (const [index, chunk] of first.chunks.entries()) {
    expect(chunk).toMatchObject({ chunk: index + 1, returned: index === 0 })
    expect(chunk.count).toBe(chunks[index]!.length)
  }
  for (let n = 2; n <= Math.min(MOST_FETCHED, chunks.length); n++) {
    const other = trim(content, tokens, { ...part, chunk: n })
    // Where all of it fits and takes no more than this part, all of it leaves.
    if (other === null || other.lossless) continue
    expect(itemsOf(other.chunks)).toEqual(chunks)
    expect(other.chunks!.findIndex(({ returned }) => returned)).toBe(n - 1)
  }
  const beyond = { ...part, chunk: chunks.length + 1 }
  expect(() => trim(content, tokens, beyond)).toThrow(`there ${chunks.length === 1 ? 'is' : 'are'}`)
  return chunks.length
}

describe('a list of items in a budget', () => {
  it('is never above it, and all that is said of it is true', () => {
    const verifier = createVerifier(counters)
    const tokens = fc.oneof(fc.nat(700), budget, fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER))
    fc.assert(
      fc.property(fc.oneof(json, diff, log, markdown), tokens, strategy, (content, most, id) => {
        const answer = trim(content, most, { strategy: id })
        if (answer === null) return
        const request = { content, mode: 'trim', budget_tokens: most, strategy: id } as const
        const { findings } = verifier.check({ line: 1, entry: { request, answer } })
        expect(findings).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  it('is in chunks that have every item once, none above the budget', () => {
    let divided = 0
    fc.assert(
      fc.property(json, budget, strategy, level, (content, tokens, id, most) => {
        const part = { strategy: id, ...(most === undefined ? {} : { level: most }) }
        if (checkChunks(content, tokens, part) > 1) divided++
      }),
      { numRuns: RUNS },
    )
    expect(divided).toBeGreaterThanOrEqual(leastHits(RUNS / 20))
  })

  it.each([
    ['a diff', diff],
    ['a log', log],
    ['Markdown', markdown],
  ])('as %s too', (_, content) => {
    let divided = 0
    fc.assert(
      fc.property(content, budget, strategy, level, (text, tokens, id, most) => {
        const part = { strategy: id, ...(most === undefined ? {} : { level: most }) }
        if (checkChunks(text, tokens, part) > 1) divided++
      }),
      { numRuns: Math.ceil(RUNS / 2) },
    )
    expect(divided).toBeGreaterThanOrEqual(leastHits(RUNS / 20))
  })

  it('names every item of a chunk that it has, and no other', () => {
    fc.assert(
      fc.property(items, budget, (list, tokens) => {
        const content = JSON.stringify(list)
        const first = trim(content, tokens, { formats: ['json_compact'] })
        for (const { chunk, returned } of first?.chunks ?? []) {
          if (chunk > MOST_FETCHED) break
          const answer = returned
            ? first
            : trim(content, tokens, { formats: ['json_compact'], chunk })
          if (answer === null || answer.lossless) continue
          const found = JSON.parse(answer.content) as ({ id: number } | string)[]
          expect(found.pop()).toMatch(/^> \[.* not shown /)
          const ids = found.map(each => (each as { id: number }).id)
          const expected = itemsOf(answer.chunks)[chunk - 1]!
          // What does not fit by itself is named by the marker alone.
          for (const id of ids) expect(expected).toContain(id)
          if (returned) expect(ids).toEqual(expected)
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('gives the items from an offset on, in order', () => {
    const range = fc.record({ offset: fc.nat(35), limit: fc.integer({ min: 1, max: 5 }) })
    fc.assert(
      fc.property(items, range, (list, { offset, limit }) => {
        const content = JSON.stringify(list)
        const ask = () => trim(content, 3_000, { offset, limit, formats: ['json_compact'] })
        if (offset >= list.length) {
          expect(ask).toThrow(`there are ${list.length} items`)
          return
        }
        const answer = ask()
        if (answer === null || answer.lossless) return
        const found = JSON.parse(answer.content) as ({ id: number } | string)[]
        found.pop()
        const ids = found.map(each => (each as { id: number }).id)
        const expected = list.slice(offset, offset + limit).map(({ id }) => id)
        expect(ids).toEqual(expected)
      }),
      { numRuns: RUNS },
    )
  })

  it('is the same each time', () => {
    fc.assert(
      fc.property(json, budget, strategy, (content, tokens, id) => {
        expect(trim(content, tokens, { strategy: id })).toEqual(
          trim(content, tokens, { strategy: id }),
        )
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    )
  })

  it('decodes to parts of it where nothing is said beside it', () => {
    fc.assert(
      fc.property(items, budget, (list, tokens) => {
        const answer = trim(JSON.stringify(list), tokens, { offset: 0, limit: list.length })
        if (answer === null || answer.lossless) return
        const { content, format } = bodyOf(answer)!
        const kept = JSON.parse(decodeContent(content, format, 1e6).content) as { id: number }[]
        for (const each of kept) expect(Object.keys(each)).toContain('id')
      }),
      { numRuns: Math.ceil(RUNS / 2) },
    )
  })
})
