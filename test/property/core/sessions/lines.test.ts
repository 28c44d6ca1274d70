import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBodyMemory } from '../../../../src/core/sessions/lines/memory-layout.ts'
import { anyText } from '../../../support/any-text.ts'
import { createContext } from '../../../support/line-references.ts'
import { leastHits, runs } from '../../../support/runs.ts'

/** Few different texts, so that lines repeat; some look like hints, gutters or nothing. */
const LINES = [
  '',
  '}',
  '\treturn value',
  'const answer = await compute(1, 2, 3)',
  'const other = await compute(4, 5, 6)',
  'a line that ends in a carriage return\r',
  '> [lines 1-3]',
  '\\> [ref 9f2c41aa lines 1-2]',
  '12:30 is no line number, or is it',
  'src/a.ts:7:found',
  'été 日本語 🚀 \ufeff',
  ' '.repeat(40),
]
const line = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...LINES) }, anyText())
const lines = fc.array(line, { maxLength: 40 })

type Gutter = (number: number, text: string) => string
const GUTTERS: readonly Gutter[] = [
  (_, text) => text,
  (number, text) => `${String(number).padStart(6)}→${text}`,
  (number, text) => `${number}\t${text}`,
  (number, text) => `${String(number).padStart(2)}:${text}`,
  (number, text) => `${number}-${text}`,
  (number, text) => `src/a.ts:${number}:${text}`,
  (number, text) => `src/a.ts-${number}-${text}`,
  (number, text) => (number % 3 === 0 ? `b.go:${number}:${text}` : `b.go-${number}-${text}`),
]
const shown = fc.record({
  gutter: fc.constantFrom(...GUTTERS),
  first: fc.constantFrom(0, 1, 7, 95, 998, 99_990),
  /** Numbers may leave some out, or stay. */
  step: fc.constantFrom(1, 1, 1, 0, 1.25),
  end: fc.constantFrom('\n', '\r\n'),
})

function show(
  texts: readonly string[],
  { gutter, first, step, end }: typeof shown extends fc.Arbitrary<infer T> ? T : never,
) {
  return texts.map((text, i) => gutter(first + Math.floor(i * step), text)).join(end)
}

/** How a diff shows lines: signs by their place, counts that may be wrong, its own numbers. */
const asDiff = fc.record({
  signs: fc.array(fc.constantFrom(' ', '+', '-'), { minLength: 1, maxLength: 7 }),
  lie: fc.constantFrom(0, 0, 0, -2, 3),
  isPatch: fc.boolean(),
  end: fc.constantFrom('\n', '\r\n'),
})

function showDiff(
  texts: readonly string[],
  { signs, lie, isPatch, end }: typeof asDiff extends fc.Arbitrary<infer T> ? T : never,
) {
  const body = texts.map((text, i) => signs[Math.floor(i / 3) % signs.length]! + text)
  const count = (sign: string) => body.filter(each => !each.startsWith(sign)).length + lie
  const [head, tail] = isPatch
    ? ['*** Begin Patch', '*** End Patch']
    : [`@@ -5,${Math.max(0, count('+'))} +7,${Math.max(0, count('-'))} @@`, 'the end']
  return ['a first line', head, ...body, tail].join(end)
}

/** Cuts, moves and changes of a list of lines. */
const edit = fc.array(
  fc.record({ at: fc.nat(60), cut: fc.nat(4), put: fc.array(line, { maxLength: 3 }) }),
  { maxLength: 4 },
)

function apply(
  texts: readonly string[],
  edits: readonly { at: number; cut: number; put: string[] }[],
) {
  const result = [...texts]
  for (const { at, cut, put } of edits) result.splice(at % (result.length + 1), cut, ...put)
  return result
}

describe('references to lines', () => {
  it('stand for the very bytes, whatever was edited, numbered or forged', () => {
    let referred = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(lines, shown), { minLength: 1, maxLength: 3 }),
        fc.nat(2),
        edit,
        shown,
        (earlier, pick, edits, as) => {
          const context = createContext()
          for (const [texts, how] of earlier) context.keep(show(texts, how))
          const [texts] = earlier[pick % earlier.length]!
          const later = show(apply(texts, edits), as)
          const answer = context.refer(later)
          if (answer === null) return
          referred++
          expect(context.restore(answer)).toBe(later)
        },
      ),
      { numRuns: runs(800) },
    )
    expect(referred).toBeGreaterThanOrEqual(leastHits(runs(800) / 12))
  })

  it('stand for the very bytes of diffs and of what diffs showed', () => {
    let referred = 0
    let signed = 0
    let unsigned = 0
    const write = fc.oneof(
      asDiff.map(how => (texts: readonly string[]) => showDiff(texts, how)),
      shown.map(how => (texts: readonly string[]) => show(texts, how)),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(lines, write), { minLength: 1, maxLength: 3 }),
        fc.nat(2),
        edit,
        write,
        (earlier, pick, edits, writeLater) => {
          const context = createContext()
          for (const [texts, writeEarlier] of earlier) context.keep(writeEarlier(texts))
          const [texts] = earlier[pick % earlier.length]!
          const later = writeLater(apply(texts, edits))
          const answer = context.refer(later)
          if (answer === null) return
          referred++
          if (/^> \[.*\] signs /m.test(answer)) signed++
          if (/^> \[.*\].* without signs$/m.test(answer)) unsigned++
          expect(context.restore(answer)).toBe(later)
        },
      ),
      { numRuns: runs(800) },
    )
    expect(referred).toBeGreaterThanOrEqual(leastHits(runs(800) / 10))
    expect(signed).toBeGreaterThanOrEqual(leastHits(runs(800) / 40))
    expect(unsigned).toBeGreaterThanOrEqual(leastHits(runs(800) / 40))
  })

  it('decoding anything gives text or a documented error', () => {
    const context = createContext()
    const ref = context.keep(LINES.join('\n'))
    const part = fc.oneof(
      fc.constantFrom(
        ...LINES,
        `> [ref ${ref} lines 1-4]`,
        '> [lines 2-3]',
        '> [line 9 -4]',
        '   1→x',
      ),
      fc.constantFrom('> [lines 2-3] numbered on', '> [line 4] without numbers', `> [ref ${ref}]`),
      fc.constantFrom(
        '> [lines 2-3] signs +1 -1',
        '> [line 4] signs =999999999',
        '> [line 4] signs ',
      ),
      fc.constantFrom('> [lines 2-3] without signs', '> [line 4] numbered on without signs'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(part), parts => {
        try {
          context.restore(parts.join('\n'), 10_000)
        } catch (error) {
          expect(error).toMatchObject({
            code: expect.stringMatching(/^(not_decodable|payload_too_large)$/),
          })
        }
      }),
      { numRuns: runs(1000) },
    )
  })

  it('a ring too small for its bodies forgets them and mixes none up', () => {
    const body = fc
      .tuple(fc.nat(30), fc.integer({ min: 5, max: 60 }))
      .map(([seed, count]) =>
        Array.from(
          { length: count },
          (_, i) => `line ${i % 17} of the body ${seed}: ${seed * i}`,
        ).join('\n'),
      )
    let referred = 0
    fc.assert(
      fc.property(
        fc.array(fc.tuple(body, fc.boolean()), { minLength: 30, maxLength: 120 }),
        steps => {
          const memory = createBodyMemory({ bytes: 1 << 16 })
          const contexts = [createContext(memory, 'one'), createContext(memory, 'two')]
          for (const [text, second] of steps) {
            const context = contexts[second ? 1 : 0]!
            const answer = context.refer(text)
            if (answer !== null) {
              referred++
              expect(context.restore(answer)).toBe(text)
            }
            context.keep(text)
            const { memory: bodies, key } = context
            expect([text, null]).toContain(bodies.read(hash('sha256', text), key))
          }
        },
      ),
      { numRuns: runs(40) },
    )
    expect(referred).toBeGreaterThanOrEqual(leastHits(runs(40) * 5))
  })
})
