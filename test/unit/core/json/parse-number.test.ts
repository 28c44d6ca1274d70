import { expect, it } from 'vitest'
import { parseNumber } from '../../../../src/core/json/parse-number.ts'
import { NumberLiteral } from '../../../../src/core/json/value.ts'

it('reads only its range', () => {
  expect(parseNumber('9129', 1, 3)).toBe(12)
  expect(parseNumber('1e+5', 0, 2)).toBeUndefined()
  expect(parseNumber('1.5', 0, 2)).toBeUndefined()
  expect(parseNumber('-5', 0, 1)).toBeUndefined()
  expect(parseNumber('5', 1, 1)).toBeUndefined()
})

it('gives a plain number exactly where the spelling is that of the double', () => {
  // Every length of integer and fraction around the limit of the exact path.
  for (let integer = 1; integer <= 18; integer++) {
    for (let fraction = 0; fraction <= 18; fraction++) {
      for (const filler of ['1234567890', '9', '10', '01', '3']) {
        const digits = `7${filler.repeat(36)}`
        const tail = fraction === 0 ? '' : `.${digits.slice(integer, integer + fraction)}`
        for (const head of [digits.slice(0, integer), '0']) {
          for (const sign of ['', '-']) {
            const spelling = sign + head + tail
            const plain = String(Number(spelling)) === spelling
            const expected = plain ? Number(spelling) : new NumberLiteral(spelling)
            expect(parseNumber(spelling, 0, spelling.length)).toEqual(expected)
          }
        }
      }
    }
  }
})
