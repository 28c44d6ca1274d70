import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contentOf } from '../../../../src/core/formats/text-content.ts'
import { runs } from '../../../support/runs.ts'

/** Characters with bits of their own, their neighbours, and bytes that look like unsafe ones. */
const part = fc.constantFrom(
  ...['plain words', '0123456789', 'é', '\u3042', '\uff21', '\ud83d\ude00', '\ufffd', '\u007f'],
  ...['\ufeff', '\ud800', '\udc00', '\0', '\r', '\n', '\t', ' ', '"', '\\', '|', '(', ')'],
  ...[',', ';', ':', '[', '}', '.', '=', '*'],
)

it('has of a long text what it has of its parts', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), fc.nat(80), (parts, padding) => {
      const text = parts.join('') + 'x'.repeat(padding)
      // Halves of a pair that come together are a character.
      const characters = [...text]
      expect(contentOf(text)).toBe(characters.reduce((bits, char) => bits | contentOf(char), 0))
    }),
    { numRuns: runs(20_000) },
  )
})

it('has of a very long text what it has of its parts', () => {
  for (const length of [21_844, 21_845, 21_846, 100_000]) {
    expect(contentOf(`${'\u3042'.repeat(length)},`)).toBe(contentOf(','))
    expect(contentOf(`${'\u3042'.repeat(length)}\ud800`)).toBe(contentOf('\ud800'))
  }
})
