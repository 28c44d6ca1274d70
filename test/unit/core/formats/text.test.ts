import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { formatId } from '../../../../src/core/formats/json/json-format.ts'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { findTextFormat, TEXT_FORMATS } from '../../../../src/core/formats/text/registry.ts'
import {
  formatLabel,
  splitFormat,
  type TextFormat,
  type TextTools,
  textFormat,
  type WrittenText,
} from '../../../../src/core/formats/text/text-format.ts'
import { lengthCounter } from '../../../support/length-counter.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { someOf } from '../../../support/short-runs.ts'
import { threadTime } from '../../../support/thread-time.ts'
import { TEXT_CASES, type TextCase, UNDECODABLE_TEXTS } from './text-cases.ts'

/** The formats that the table knows; others may come and be cheaper. */
const tools: TextTools = {
  counter: lengthCounter(4),
  formats: JSON_FORMATS.filter(({ id }) => ['csv', 'json_compact'].includes(id)),
}

/** What the format writes, each after checking that it is read back as the same text. */
function roundTrip(format: TextFormat, text: string): readonly WrittenText[] {
  const written = format.encode(text, tools)
  for (const { content, style } of written) {
    expect(format.decode(content, style, text.length)).toBe(text)
    expect(style).toMatch(/^[\w,@-]*$/)
  }
  return written
}

const STYLES: Readonly<Record<string, readonly string[]>> = {
  numbered: ['arrow', 'tab', 'colon'],
  diff: [''],
  prefixed: ['dots', 'star', 'dots-blocks', 'star-blocks'],
  templated: [''],
  md: ['s-s-3', 'a-t-c', 'p-s-2000'],
  ndjson: ['ended_compact,csv@1', 'python,json_compact@1'],
  terminal: ['', 'prefixed@1,dots', 'prefixed@1,star'],
  mcp: ['compact,json_compact@1', 'result_plain,json_compact@1'],
  strings: ['1,json_compact@1', '2,tree@2'],
}

describe.each(Object.entries(TEXT_CASES))('%s', (_, { text, format, content }: TextCase) => {
  it(`is written by ${format} as in the table`, () => {
    const { base, style } = splitFormat(format)
    const written = roundTrip(findTextFormat(`${base}@1`)!.format, text).find(
      one => one.style === style,
    )
    expect(written?.content ?? null).toBe(content)
  })

  it.each(TEXT_FORMATS)('comes back from $id', format => {
    roundTrip(format, text)
    roundTrip(format, `before\n${text}`)
    roundTrip(format, `${text}\nafter`)
    // What was encoded is only another text: nothing in it is taken for a marker.
    if (content !== null) roundTrip(format, content)
  })
})

describe('a text that the format did not write', () => {
  it.each(UNDECODABLE_TEXTS)('%s refuses %j and names line %i', (format, content, line) => {
    expect(failureOf(format, content)).toMatchObject({
      code: 'not_decodable',
      detail: expect.stringMatching(new RegExp(`^line ${line}: `)),
    })
  })
})

describe('formats of texts', () => {
  it('are found by name and version, with the style behind them', () => {
    for (const format of TEXT_FORMATS) {
      expect(findTextFormat(textFormat(formatId(format), 'x'))).toEqual({ format, style: 'x' })
      expect(findTextFormat(`${format.id}@${format.version + 1}`)).toBeUndefined()
    }
    expect(findTextFormat('__proto__')).toBeUndefined()
  })

  it('have a style for every test above', () => {
    expect(Object.keys(STYLES).sort()).toEqual(TEXT_FORMATS.map(({ id }) => id).sort())
  })

  it('have labels of a fixed set', () => {
    expect(formatLabel('md@1;aligned')).toBe('md@1')
    expect(formatLabel('csv@1')).toBe('csv@1')
  })
})

describe('hostile text', { timeout: 60_000 }, () => {
  /** Characters; a short run shows the same with fewer. */
  const SIZE = FULL_RUNS ? 200_000 : 10_000
  const PIECES = [
    'a:\n',
    ' - ',
    '- a: 1\n',
    '# a\n',
    "'",
    'a: &a [*a]\n',
    '---\n',
    '<a>',
    '<a b="',
    '<i>x</i> ',
    'a="\\\\"=',
    '\u001b[0m',
    '\u001b[1',
    '\r',
    '|',
    '[',
    '{"a":',
    '1→',
    ' 1→x\n',
    '```',
    '```csv\n',
    '\n',
    ' ',
    '…\n',
    'a/…\n',
    'a 1 b 2 c 3\n',
    'A: {1}\n',
    ' 1',
  ]
  PIECES.push(
    '| a |\n',
    '|-|\n',
    '{}\n',
    '"',
    '\\',
    'a/',
    'a b/c\n',
    '\u0000',
    '\u05d0|',
    '→ end\n',
    '> [',
  )

  it.each(someOf(PIECES, 8))('stays linear on a long run of %j', piece => {
    // A quadratic pass would take 10^11 steps in a full run, and run into the test's time limit.
    const text = piece.repeat(SIZE / piece.length)
    for (const format of TEXT_FORMATS) {
      roundTrip(format, text)
      roundTrip(format, `| a | b |\n|---|---|\n| ${text} | x |\n1→\n2→\n3→`)
      for (const style of STYLES[format.id] ?? ['']) {
        try {
          format.decode(text, style, SIZE * 2)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }
    }
  })
})

/** What is left of a read of so many empty lines with wide gutters. */
function numberedRead(lines: number): string {
  const rest = Array.from({ length: lines - 1 }, (_, i) => ((i + 2) % 5 === 0 ? `${i + 2}→` : ''))
  return [`${' '.repeat(10)}1→`, ...rest].join('\n')
}

it('counts blocks of lines only in a style that says so', () => {
  const { format } = findTextFormat('prefixed@1')!
  const content = 'a\nb\n×2 (2 lines)'
  expect(format.decode(content, 'dots', 100)).toBe(content)
  expect(format.decode(content, 'dots-blocks', 100)).toBe('a\nb\na\nb')
})

describe('a short text that stands for a long one', () => {
  const wide = 'w'.repeat(2_000)

  it.each([
    ['numbered@1;arrow', numberedRead(100_000)],
    ['prefixed@1;dots', `${wide}…\n${'x\n'.repeat(20_000)}`],
    ['prefixed@1;dots', `${wide}\n×999999999`],
    ['prefixed@1;dots-blocks', `${wide}\n\n×999999999 (2 lines)`],
    ['templated@1', `A: ${wide}{1}\n\nA\n${'x\n'.repeat(20_000)}`],
    ['templated@1', `A: ${'{1}'.repeat(2_000)}\n\nA\n${wide}`],
    ['md@1;a-s-c', `\`\`\`csv\n${wide}\n${'x\n'.repeat(20_000)}\`\`\``],
    ['md@1;s-s-2000_2000', '```csv\na,b\n```\n'.repeat(2_000)],
    ['ndjson@1;compact,csv@1', `${wide}${'\n1'.repeat(20_000)}`],
  ])('%s is refused before it is written', (format, content) => {
    const started = threadTime()
    expect(failureOf(format, content)).toMatchObject({ code: 'payload_too_large' })
    expect(threadTime() - started).toBeLessThan(1_000)
  })
})

function failureOf(answered: string, content: string): unknown {
  const { format, style } = findTextFormat(answered)!
  try {
    format.decode(content, style, 1_000_000)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    return error
  }
  throw new Error('decoded')
}
