import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { READING_LEVELS } from '../../../../src/core/reading/constructs.ts'
import { decode, encode } from '../../../../src/index.ts'
import { leastHits, runs } from '../../../support/runs.ts'

/** Rows of a program in Python: figures that may be missing or too large, and texts like them. */
const cell = fc.oneof(
  fc.constantFrom('NaN', 'Infinity', '-Infinity', '"NaN"', '"-Infinity"', '"nan"', 'null', '""'),
  fc.integer({ min: -99, max: 99 }).map(String),
  fc.constantFrom('0.5', '1.0', '{"loss":NaN}', '[NaN,"NaN",1]', '"{\\"loss\\": NaN}"'),
)
const python = fc
  .tuple(
    fc.uniqueArray(fc.constantFrom('step', 'loss', 'a b', 'NaN', ''), { minLength: 1 }),
    fc.nat(9),
  )
  .chain(([keys, rows]) =>
    fc
      .array(fc.tuple(...keys.map(() => cell)), { minLength: rows, maxLength: rows })
      .map(all => `[${all.map(row => object(keys, row)).join(', ')}]`),
  )

function object(keys: readonly string[], cells: readonly string[]): string {
  return `{${keys.map((key, at) => `${JSON.stringify(key)}: ${cells[at]}`).join(', ')}}`
}

const squeezed = (json: string) => json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')

describe('NaN and infinities, as Python writes them', () => {
  it.each(READING_LEVELS)('come back from every format at %s', reading => {
    let packed = 0
    fc.assert(
      fc.property(python, content => {
        const answer = encode({ content, reading })
        if (answer.format !== 'passthrough') packed++
        const back = decode({ content: answer.content, format: answer.format }).content
        expect(squeezed(back)).toBe(squeezed(content))
      }),
      { numRuns: runs(400) },
    )
    expect(packed).toBeGreaterThanOrEqual(leastHits(runs(400) / 4))
  })

  it('are packed like any other numbers, and differ from texts', () => {
    const rows = Array.from(
      { length: 8 },
      (_, step) => `{"step": ${step}, "loss": NaN, "of": "NaN"}`,
    )
    const answer = encode({ content: `[${rows.join(', ')}]` })
    expect(answer.tokens.final).toBeLessThan(answer.tokens.baseline / 2)
    expect(answer.content).toContain('NaN')
    expect(answer.content).toContain('"NaN"')
  })

  it('pass in lines of JSON and in texts within JSON', () => {
    const line = (step: number) => `{"step": ${step}, "loss": -Infinity, "of": "Infinity"}\n`
    const lines = Array.from({ length: 12 }, (_, step) => line(step)).join('')
    for (const content of [lines, JSON.stringify({ stdout: lines, code: 0 })]) {
      const answer = encode({ content })
      expect(answer.format).not.toBe('passthrough')
      expect(decode({ content: answer.content, format: answer.format }).content).toBe(content)
    }
  })
})
