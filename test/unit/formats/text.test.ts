import { describe, expect, it } from 'vitest'
import { formatId } from '../../../src/core/formats/notation.ts'
import { NOTATIONS } from '../../../src/core/formats/registry.ts'
import { findTextNotation, TEXT_NOTATIONS } from '../../../src/core/formats/text/registry.ts'
import {
  formatLabel,
  splitFormat,
  type TextNotation,
  type TextTools,
  textFormat,
  type WrittenText,
} from '../../../src/core/formats/text/text-notation.ts'
import { AppError } from '../../../src/errors.ts'
import { TEXT_CASES, type TextCase, UNDECODABLE_TEXTS } from './text-cases.ts'

const tools: TextTools = { count: text => Math.ceil(text.length / 4), notations: NOTATIONS }

/** What the notation writes, each after checking that it is read back as the same text. */
function roundTrip(notation: TextNotation, text: string): readonly WrittenText[] {
  const written = notation.encode(text, tools)
  for (const { content, style } of written) {
    expect(notation.decode(content, style, text.length)).toBe(text)
    expect(style).toMatch(/^[\w,@-]*$/)
  }
  return written
}

describe.each(Object.entries(TEXT_CASES))('%s', (_, { text, format, content }: TextCase) => {
  it(`is written by ${format} as in the table`, () => {
    const { base, style } = splitFormat(format)
    const { notation } = findTextNotation(`${base}@1`)!
    const written = roundTrip(notation, text).find(one => one.style === style)
    expect(written?.content ?? null).toBe(content)
  })

  it.each(TEXT_NOTATIONS)('comes back from $id', notation => {
    roundTrip(notation, text)
    roundTrip(notation, `before\n${text}`)
    roundTrip(notation, `${text}\nafter`)
    // What was encoded is only another text: nothing in it is taken for a marker.
    if (content !== null) roundTrip(notation, content)
  })
})

describe('a text that the notation did not write', () => {
  it.each(UNDECODABLE_TEXTS)('%s refuses %j and names line %i', (format, content, line) => {
    expect(failureOf(format, content)).toMatchObject({
      code: 'not_decodable',
      detail: expect.stringMatching(new RegExp(`^line ${line}: `)),
    })
  })
})

describe('formats of texts', () => {
  it('are found by name and version, with the style behind them', () => {
    for (const notation of TEXT_NOTATIONS) {
      const format = textFormat(formatId(notation), 'x')
      expect(findTextNotation(format)).toEqual({ notation, style: 'x' })
      expect(findTextNotation(`${notation.id}@${notation.version + 1}`)).toBeUndefined()
    }
    expect(findTextNotation('__proto__')).toBeUndefined()
  })

  it('have labels of a fixed set', () => {
    expect(formatLabel('md@1;aligned')).toBe('md@1')
    expect(formatLabel('csv@1')).toBe('csv@1')
  })
})

describe('hostile text', { timeout: 60_000 }, () => {
  const SIZE = 1_000_000
  const PIECES = ['|', '[', '{"a":', '1→', ' 1→x\n', '```', '```csv\n', '\n', ' ', '…\n', 'a/…\n']
  PIECES.push('| a |\n', '|-|\n', '{}\n', '"', '\\', 'a/', 'a b/c\n', '\u0000', '\u05d0|', '→\n')

  it.each(PIECES)('stays linear on a long run of %j', piece => {
    // A quadratic pass would take 10^12 steps and run into the test's time limit.
    const text = piece.repeat(SIZE / piece.length)
    for (const notation of TEXT_NOTATIONS) {
      roundTrip(notation, text)
      roundTrip(notation, `| a | b |\n|---|---|\n| ${text} | x |\n1→\n2→\n3→`)
      for (const { style } of notation.encode(Object.values(TEXT_CASES)[0]!.text, tools)) {
        try {
          notation.decode(text, style, SIZE * 2)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }
    }
  })
})

function failureOf(format: string, content: string): unknown {
  const { notation, style } = findTextNotation(format)!
  try {
    notation.decode(content, style, 1_000_000)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    return error
  }
  throw new Error('decoded')
}
