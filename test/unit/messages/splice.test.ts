import { describe, expect, it } from 'vitest'
import { splice } from '../../../src/core/messages/splice.ts'

const body = new TextEncoder().encode(String.raw`{"a": "\u0061", "b":1.0, "c":"é" }`)
const [a, c] = [
  { start: 6, end: 14 },
  { start: 29, end: 33 },
]
const spliced = (...texts: Parameters<typeof splice>[1]) =>
  new TextDecoder().decode(splice(body, texts))

describe('splice', () => {
  it('writes texts with the fewest escapes, and nothing else', () => {
    expect(spliced({ ...a, text: '"/\\\n\u0001é' }, { ...c, text: '' })).toBe(
      String.raw`{"a": "\"/\\\n\u0001é", "b":1.0, "c":"" }`,
    )
  })

  it('escapes halves of surrogate pairs', () => {
    expect(spliced({ ...c, text: '😀\ude00' })).toContain(String.raw`"c":"😀\ude00" }`)
  })

  it('leaves a literal that means its text, however it is written', () => {
    expect(splice(body, [{ ...a, text: 'a' }])).toBe(body)
    expect(spliced({ ...a, text: 'a' }, { ...c, text: 'b' })).toBe(
      String.raw`{"a": "\u0061", "b":1.0, "c":"b" }`,
    )
  })

  it('gives bytes that can be transferred', () => {
    const out = splice(body, [{ ...a, text: 'x' }])
    expect(out.buffer.byteLength).toBe(out.length)
  })

  it.each([
    [
      'out of order',
      [
        { ...c, text: 'x' },
        { ...a, text: 'x' },
      ],
    ],
    [
      'twice in one place',
      [
        { ...a, text: 'x' },
        { ...a, text: 'y' },
      ],
    ],
    ['behind the end', [{ start: 29, end: 99, text: 'x' }]],
    ['of no length', [{ start: 6, end: 6, text: 'x' }]],
  ])('refuses places %s', (_, replacements) => {
    expect(() => splice(body, replacements)).toThrow(RangeError)
  })
})
