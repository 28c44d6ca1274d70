import { describe, expect, it } from 'vitest'
import { literalOf, splice } from '../../../../src/core/json/bytes/splice.ts'

const body = new TextEncoder().encode(String.raw`{"a": "\u0061", "b":1.0, "c":"é" }`)
const [a, c] = [
  { start: 6, end: 14 },
  { start: 29, end: 33 },
]
const SPACES = new TextEncoder().encode('  ')
const spliced = (...texts: Parameters<typeof splice>[1]) =>
  new TextDecoder().decode(splice(body, texts))

describe('splice', () => {
  it('writes texts with the fewest escapes, and nothing else', () => {
    expect(
      spliced({ ...a, literal: literalOf('"/\\\n\u0001é') }, { ...c, literal: literalOf('') }),
    ).toBe(String.raw`{"a": "\"/\\\n\u0001é", "b":1.0, "c":"" }`)
  })

  it('escapes halves of surrogate pairs', () => {
    expect(spliced({ ...c, literal: literalOf('😀\ude00') })).toContain(
      String.raw`"c":"😀\ude00" }`,
    )
  })

  it('gives the very bytes where every literal is what it was', () => {
    expect(splice(body, [{ ...c, literal: literalOf('é') }])).toBe(body)
    expect(
      spliced({ ...c, literal: literalOf('é') }, { start: 33, end: 34, literal: SPACES }),
    ).toBe(String.raw`{"a": "\u0061", "b":1.0, "c":"é"  }`)
  })

  it('gives bytes that can be transferred', () => {
    const out = splice(body, [{ ...a, literal: literalOf('x') }])
    expect(out.buffer.byteLength).toBe(out.length)
  })

  it.each([
    [
      'out of order',
      [
        { ...c, literal: literalOf('x') },
        { ...a, literal: literalOf('x') },
      ],
    ],
    [
      'twice in one place',
      [
        { ...a, literal: literalOf('x') },
        { ...a, literal: literalOf('y') },
      ],
    ],
    ['behind the end', [{ start: 29, end: 99, literal: literalOf('x') }]],
    ['of no length', [{ start: 6, end: 6, literal: literalOf('x') }]],
  ])('refuses places %s', (_, replacements) => {
    expect(() => splice(body, replacements)).toThrow(RangeError)
  })
})
