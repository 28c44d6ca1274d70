import { describe, expect, it } from 'vitest'
import { BEYOND_ASCII, createTextCodes } from '../../../../src/core/base/text-codes.ts'

/** One code unit after another. */
function expected(text: string): number[] {
  const codes: number[] = []
  for (let at = 0; at < text.length; at++) codes.push(Math.min(text.charCodeAt(at), BEYOND_ASCII))
  return [...codes, 0]
}

const LONG = 1 << 16

describe('the codes of a text', () => {
  const codesOf = createTextCodes()

  it.each([
    ['nothing', ''],
    ['ASCII', 'a{"b": 1}\u0000\t~\u007f'],
    ['letters beyond ASCII', 'naïve – 東京'],
    ['pairs of surrogates and a lone one', 'a😀b\ud83d'],
    ['a text as long as the kept memory', 'x'.repeat(LONG - 1)],
    ['a longer one', 'xy'.repeat(LONG)],
    // Its first half has as many bytes in UTF-8 as the whole has code units.
    ['a longer one that begins beyond ASCII', 'é'.repeat(LONG)],
  ])('are one byte for each code unit: %s', (_, text) => {
    // As bytes: to print how two long lists differ takes minutes.
    const codes = codesOf(text).subarray(0, text.length + 1)
    expect(Buffer.compare(codes, Buffer.from(expected(text)))).toBe(0)
  })

  it('are those of the last text', () => {
    codesOf('a longer text before')
    expect([...codesOf('ab').subarray(0, 3)]).toEqual(expected('ab'))
  })
})
