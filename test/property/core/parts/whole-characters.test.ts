import fc from 'fast-check'
import { expect, it } from 'vitest'
import { wholeCharacters } from '../../../../src/core/parts/whole-characters.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'é', '–', '😀', '\n') })

it('leaves what lies whole within a piece, and nothing else', () => {
  fc.assert(
    fc.property(text, fc.nat(40), fc.nat(40), (content, from, length) => {
      const piece = new TextEncoder().encode(content).subarray(from, from + length)
      const { start, end } = wholeCharacters(piece)
      let at = 0
      const whole = [...content].filter(character => {
        const first = at
        at += new TextEncoder().encode(character).length
        return first >= from && at <= from + length
      })
      expect(new TextDecoder().decode(piece.subarray(start, end))).toBe(whole.join(''))
    }),
  )
})
