import { createRequire } from 'node:module'
import type { Tiktoken } from 'tiktoken'
import { describe, expect, it } from 'vitest'
import {
  buildClassTable,
  CASELESS,
  LOWER,
  MARK,
  NEWLINE,
  NUMBER,
  SPACE,
  UPPER,
} from '../../../../src/core/tokens/unicode-classes.ts'

const CODE_POINTS = 0x110000

function isSurrogate(point: number): boolean {
  return point >= 0xd800 && point < 0xe000
}

/**
 * The code points that a pattern matches in tiktoken's regex engine: with single bytes as the only
 * tokens, the ids of a text are the bytes of all matches.
 */
function matchedBy(pattern: string, text: string): string {
  const { Tiktoken: create } = createRequire(import.meta.url)('tiktoken/lite') as {
    Tiktoken: typeof Tiktoken
  }
  const bytes = Array.from({ length: 256 }, (_, byte) => Buffer.from([byte]).toString('base64'))
  const encoder = new create(`! 0 ${bytes.join(' ')}`, {}, pattern)
  const matched = Buffer.from(encoder.encode_ordinary(text)).toString()
  encoder.free()
  return matched
}

describe('code points', () => {
  it('have the classes that tiktoken sees', () => {
    const all: string[] = []
    for (let point = 0; point < CODE_POINTS; point++) {
      if (!isSurrogate(point)) all.push(String.fromCodePoint(point))
    }
    const text = all.join('')
    const expected = new Uint8Array(CODE_POINTS)
    const patterns: readonly (readonly [string, number])[] = [
      ['[\\p{Lu}\\p{Lt}]', UPPER],
      ['\\p{Ll}', LOWER],
      ['[\\p{Lm}\\p{Lo}]', CASELESS],
      ['\\p{M}', MARK],
      ['\\p{N}', NUMBER],
      ['\\s', SPACE],
      ['[\\r\\n]', NEWLINE],
    ]
    for (const [pattern, kind] of patterns) {
      for (const char of matchedBy(pattern, text)) expected[char.codePointAt(0)!] = kind
    }
    const { blockOf, classes } = buildClassTable()
    const wrong: number[] = []
    for (let point = 0; point < CODE_POINTS; point++) {
      const actual = classes[(blockOf[point >> 7]! << 7) | (point & 127)]
      if (actual !== expected[point]) wrong.push(point)
    }
    expect(wrong).toEqual([])
  })
})
