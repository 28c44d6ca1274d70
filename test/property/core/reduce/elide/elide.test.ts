import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { decodeContent } from '../../../../../src/core/pipeline/decode.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { rankText } from '../../../../../src/core/reduce/elide/text-reducers.ts'
import { bodyOf } from '../../../../../src/core/verify/answer-body.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { anyText } from '../../../../support/any-text.ts'
import { localContext } from '../../../../support/local-context.ts'
import { leastHits, runs } from '../../../../support/runs.ts'

/** More in the long run. */
const RUNS = runs(300)

const context = {
  ...localContext(),
  keepsOriginals: true,
  pipeline: pipelineSchema.parse({
    elision: { min_block_bytes: 0 },
    endpoint_overrides: { '*': { max_ratio: 1 } },
  }),
}

const number = fc.nat(99)
/** Lines of every kind, so that texts are of one kind, of several, or of none. */
const lines = {
  log: fc
    .tuple(number, number)
    .map(([a, b]) => `12:00:${10 + (a % 50)} INFO request ${b} done in time`),
  search: fc
    .tuple(number, number)
    .map(([a, b]) => `src/a${a % 4}.ts:${b + 1}: const x = load(${a})`),
  code: fc.constantFrom(
    'function f(a) {',
    '  const b = a + 1;',
    '  if (b) {',
    '    g(b);',
    '  }',
    '}',
    'class A {',
  ),
  python: fc.constantFrom(
    'def f(a):',
    '    b = a + 1',
    '    if b:',
    '        g(b)',
    '    return b',
    'class A:',
  ),
  diff: fc.constantFrom(
    '@@ -1,4 +1,4 @@',
    ' same',
    ' as before',
    '-old',
    '+new',
    '--- a/x',
    '+++ b/x',
  ),
  prose: number.map(
    n => `Nothing of note was seen on day ${n}. It rained until the evening came. We slept well.`,
  ),
  json: number.map(n =>
    JSON.stringify({ id: n, state: n === 7 ? 'failed' : 'done', note: 'as it was' }),
  ),
  odd: fc.oneof(
    anyText({ maxLength: 40 }),
    fc.constantFrom(
      '',
      '\r',
      '> [3 lines not shown | hash=0123456789abcdef01234567]',
      '[… lines 2-9]',
      '…[+40 chars]',
    ),
  ),
}
const failure = number.map(n => `ERROR number ${n} failed badly`)
const kind = fc.constantFrom(...(Object.keys(lines) as (keyof typeof lines)[]))
const text = fc
  .tuple(kind, kind, fc.constantFrom('\n', '\n', '\r\n'))
  .chain(([main, other, end]) =>
    fc
      .array(
        fc.oneof(
          { weight: 30, arbitrary: lines[main] },
          { weight: 1, arbitrary: lines[other] },
          { weight: 1, arbitrary: failure },
        ),
        { minLength: 5, maxLength: 120 },
      )
      .map(all => all.join(end)),
  )
const list = fc
  .array(
    fc.record({
      id: number,
      state: fc.constantFrom('done', 'done', 'done', 'failed'),
      size: number,
      error: fc.constantFrom(null, null, null, 'lost'),
    }),
    { minLength: 20, maxLength: 80 },
  )
  .map(items => JSON.stringify({ total: items.length, items }))

/** Texts in strings of JSON, as MCP, shells and jobs return them, and JSON in those. */
const wrapped = fc
  .tuple(fc.oneof(text, list), text, fc.constantFrom(1, 1, 2, 5), fc.boolean())
  .map(([first, second, times, isError]) => {
    let content = first
    for (let depth = 0; depth < times; depth++) {
      const parts = [
        { type: 'text', text: content },
        { type: 'text', text: second.slice(0, 300) },
      ]
      content = JSON.stringify({ content: parts, ...(isError && { isError: depth === 0 }) })
    }
    return content
  })

describe('elision of any text', () => {
  it('tells the truth about what is missing, and gives the same again', () => {
    let reduced = 0
    fc.assert(
      fc.property(
        fc.oneof(
          { weight: 4, arbitrary: text },
          { weight: 1, arbitrary: list },
          { weight: 3, arbitrary: wrapped },
        ),
        fc.option(fc.nat(400), { nil: undefined }),
        (content, budget) => {
          const request: EncodeRequest = {
            content,
            mode: 'elide',
            min_saved_tokens: 0,
            ...(budget === undefined ? {} : { budget_tokens: budget + 60 }),
          }
          const answer = attempt(request)
          if (answer === null) return
          expect(attempt(request)).toEqual(answer)
          if (answer.lossless) return
          reduced++
          const { findings, failed } = createVerifier(context.counters).check({
            line: 1,
            entry: { request, answer },
          })
          expect([findings, failed]).toEqual([[], 0])
        },
      ),
      { numRuns: RUNS },
    )
    expect(reduced).toBeGreaterThanOrEqual(leastHits(RUNS / 8))
  })

  it('keeps the first three and the last line of each failure of a log, as they are', () => {
    let reduced = 0
    const log = fc.array(
      fc.oneof({ weight: 20, arbitrary: lines.log }, { weight: 1, arbitrary: failure }),
      { minLength: 30, maxLength: 150 },
    )
    fc.assert(
      fc.property(log, all => {
        const answer = attempt({ content: all.join('\n'), mode: 'elide', min_saved_tokens: 0 })
        if (answer === null || answer.lossless) return
        reduced++
        const body = bodyOf(answer)!
        const left = decodeContent(body.content, body.format, Infinity).content.split('\n')
        const failures = all.filter(line => line.startsWith('ERROR'))
        const rest = failures.slice(3)
        const shown = [...failures.slice(0, 3), ...rest.slice(-1)]
        const found = left.filter(line => line.startsWith('ERROR'))
        expect(found.slice(0, 3)).toEqual(shown.slice(0, 3))
        expect(found.at(-1)).toBe(shown.at(-1))
        // Lines beside the shown ones may be failures too.
        expect(found.length).toBeGreaterThanOrEqual(shown.length)
      }),
      { numRuns: RUNS },
    )
    expect(reduced).toBeGreaterThanOrEqual(leastHits(RUNS / 10))
  })

  it('has a rank for each line, and gaps within their lines, in order', () => {
    fc.assert(
      fc.property(text, content => {
        const ranked = rankText(content)
        if (ranked === null) return
        expect(ranked.lines.join('\n')).toBe(content)
        expect(ranked.ranks).toHaveLength(ranked.lines.length)
        for (const [at, gaps] of ranked.inner ?? []) {
          let from = 0
          for (const { start, end } of gaps) {
            expect(start).toBeGreaterThanOrEqual(from)
            expect(end).toBeGreaterThan(start)
            from = end + 1
          }
          expect(from - 1).toBeLessThanOrEqual(ranked.lines[at]!.length)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

/** The answer; `null` if nothing is so small. */
function attempt(request: EncodeRequest) {
  try {
    return encodeOperation.run(request, context).answer
  } catch (error) {
    if ((error as { code?: string }).code === 'budget_too_small') return null
    throw error
  }
}
