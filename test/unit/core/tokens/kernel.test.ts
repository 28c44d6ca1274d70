import { describe, expect, it } from 'vitest'
import { asciiAutomaton } from '../../../../src/core/tokens/ascii-automaton.ts'
import { AT_TEXT, createKernel } from '../../../../src/core/tokens/kernel.ts'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import {
  pieceEndCl100k,
  pieceEndO200k,
  SENTINEL,
} from '../../../../src/core/tokens/split-pieces.ts'
import { buildClassTable } from '../../../../src/core/tokens/unicode-classes.ts'

const table = buildClassTable()
const SPLIT = { o200k_base: pieceEndO200k, cl100k_base: pieceEndCl100k }

/** One character of every kind that the patterns tell apart, and the letters of contractions. */
const ALPHABET = ['A', 'b', 's', 'R', 'e', 'l', '1', ' ', '\t', '\n', '\r', "'", '/', '(', '']

/** A number from 1 to 15 that depends on every byte. */
function signature(bytes: Uint8Array, start: number, end: number): number {
  let sum = 0
  for (let at = start; at < end; at++) sum = (sum * 31 + bytes[at]!) % 1009
  return 1 + (sum % 15)
}

describe('kernel', () => {
  it.each(ENCODINGS)('splits ASCII as the pattern by hand does: %s', encoding => {
    // Each piece counts as a number made of its bytes, so that sums differ where splits do, cache
    // or not.
    const kernel = createKernel(encoding, 64, {
      pieceEnd: () => expect.fail('only ASCII was given'),
      countPiece: (start, end) => signature(kernel.bytes, start, end),
    })
    const { bytes } = kernel
    const texts = ALPHABET.flatMap(a =>
      ALPHABET.flatMap(b => ALPHABET.flatMap(c => ALPHABET.map(d => a + b + c + d))),
    )
    for (const four of texts) {
      for (const text of [four, `x${four}`, ` \n${four}`]) {
        const end = AT_TEXT + Buffer.from(text).copy(bytes, AT_TEXT)
        bytes[end] = SENTINEL
        const before = kernel.pieces()
        const sum = kernel.countBlock(AT_TEXT, end, 1000)
        let expected = 0
        let pieces = 0
        for (let at = AT_TEXT; at < end; pieces++) {
          const next = SPLIT[encoding](bytes, at, table)
          expected += signature(bytes, at, next)
          at = next
        }
        if (sum !== expected || kernel.pieces() - before !== pieces)
          expect.fail(JSON.stringify(text))
      }
    }
  })

  it.each(ENCODINGS)('ends every walk at the end of the text: %s', encoding => {
    const automaton = asciiAutomaton(encoding)
    for (let state = 0; state < automaton.length >> 8; state++) {
      expect(automaton[(state << 8) | SENTINEL]).toBeGreaterThanOrEqual(24)
    }
  })

  it('caches, and counts its pieces', () => {
    let asked = 0
    const kernel = createKernel('o200k_base', 64, {
      pieceEnd: () => 0,
      countPiece: () => {
        asked++
        return 3
      },
    })
    const length = Buffer.from('ab ab ab abcdefghijklmnopq').copy(kernel.bytes, AT_TEXT)
    kernel.bytes[AT_TEXT + length] = SENTINEL
    expect(kernel.countBlock(AT_TEXT, AT_TEXT + length, 1000)).toBe(12)
    expect(asked).toBe(3)
    expect(kernel.pieces()).toBe(4)
    kernel.reserve(1 << 20)
    expect(kernel.bytes.length).toBeGreaterThan(AT_TEXT + (1 << 20))
  })
})
