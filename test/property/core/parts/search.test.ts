import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSearch } from '../../../../src/core/parts/grep.ts'
import { runs } from '../../../support/runs.ts'

/** Enough for the search to go on step by step. */
const BODY_CHARS = 40_000
const some = (maxLength: number) =>
  fc
    .array(fc.constantFrom('a', 'a', 'b', 'B', 'é', '\n'), { minLength: 1, maxLength })
    .map(parts => parts.join(''))

/** A text that nearly repeats itself, and one that is nearly in it. */
const place = fc.record({
  head: some(12),
  period: some(5),
  tail: some(12),
  from: fc.nat(20),
  length: fc.integer({ min: 1, max: 60 }),
  end: fc.constantFrom('', 'b', 'x', 'A'),
})

test('a text is found wherever it is', () => {
  fc.assert(
    fc.property(place, fc.boolean(), ({ head, period, tail, from, length, end }, ignoreCase) => {
      const repeated = period.repeat(BODY_CHARS / period.length)
      const text = `${repeated}${tail}`.slice(from, from + length) + end
      for (const body of [head + repeated + tail, head + repeated + text + tail]) {
        const found = offsets(Buffer.from(body), text, ignoreCase)
        const lower = (any: string) =>
          ignoreCase ? any.replaceAll('B', 'b').replaceAll('A', 'a') : any
        expect(found).toEqual(plainOffsets(Buffer.from(lower(body)), Buffer.from(lower(text))))
      }
    }),
    { numRuns: runs(200) },
  )
})

/** The last places are those of interest: the first ones are all alike. */
const LOOKS = [0, 1, 1_000, BODY_CHARS - 100, BODY_CHARS]

function offsets(body: Buffer, text: string, ignoreCase: boolean): number[] {
  const search = createSearch(body, text, ignoreCase)
  return LOOKS.map(from => search(from))
}

function plainOffsets(body: Buffer, needle: Buffer): number[] {
  return LOOKS.map(from => (from > body.length ? -1 : body.indexOf(needle, from)))
}

test('a text is found right after the place from which the search goes on step by step', () => {
  const head = 'b'.repeat(1_000)
  for (let run = 7; run < 120; run++) {
    const body = Buffer.from(`${head}${'a'.repeat(run)}b`)
    expect(createSearch(body, 'aaaaaaab', false)(0)).toBe(head.length + run - 7)
  }
})
